"""VLMs of every family the app names, a few thousand random weights each, made here and saved.

Each has its family's real processor and, shortened, the form of its chat template. Weights are
drawn wide enough that answers differ by image and prompt, and several tokens end an answer, so
that answers differ in length.
"""

__all__ = ["FAMILIES", "tiny_llava", "tiny_lora"]

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from tokenizers.processors import TemplateProcessing

hf: Any = transformers
"""Its classes are typed in parts only."""

WIDTH = 32
PATCH = 14
SIDE = 2 * PATCH
"""Pixels a side of what most of the vision towers see: four patches."""

VISION = {
    "hidden_size": WIDTH,
    "intermediate_size": WIDTH,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "image_size": SIDE,
    "patch_size": PATCH,
}
TEXT = {
    "hidden_size": WIDTH,
    "intermediate_size": 2 * WIDTH,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": WIDTH // 4,
    "max_position_embeddings": 1024,
    "tie_word_embeddings": False,
}
ROPE = {"rope_type": "default", "rope_theta": 10000.0}
ENDS_EVERY = 17
"""Every 17th byte ends an answer, beside the end mark: about one token in seventeen."""

PARTS = "{% for part in message['content'] %}"


def tokenizer(marks: Sequence[str], *, template: str | None = None, bos: str | None = None, **names: str) -> Any:
    """Return a tokenizer of single bytes and marks; the first mark ends an answer and pads.

    Args:
        marks: Special tokens; ids from 0.
        template: Chat template.
        bos: One of the marks that begins every text.
        names: Marks that processors ask for by name, such as ``image_token``.
    """
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = {word: place for place, word in enumerate([*marks, *alphabet])}
    inner = Tokenizer(models.BPE(vocab=words, merges=[]))
    inner.add_special_tokens(list(marks))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    inner.decoder = decoders.ByteLevel()
    if bos is not None:
        inner.post_processor = TemplateProcessing(single=f"{bos} $A", special_tokens=[(bos, words[bos])])
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=inner,
        eos_token=marks[0],
        pad_token=marks[0],
        bos_token=bos,
        extra_special_tokens=names,
        padding_side="left",
        clean_up_tokenization_spaces=False,
        chat_template=template,
    )


def save(folder: Path, model_class: Any, config: Any, processor: Any, *, spread: float = 1.0) -> Path:
    """Draw weights, those of embeddings with a standard deviation of ``spread``; save them and the processor."""
    torch.manual_seed(0)
    model = model_class(config)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if "embed" in name:
                weights.normal_(std=spread)
            elif weights.ndim > 1:
                weights.normal_(std=1.5 / weights[0].numel() ** 0.5)
    words = processor.tokenizer.get_vocab()
    model.generation_config.eos_token_id = [0, *sorted(words.values())[30::ENDS_EVERY]]
    model.generation_config.pad_token_id = 0
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def tiny_llava(folder: Path) -> Path:
    """Save a LLaVA: SigLIP and Llama."""
    marks = ["<end>", "<image>", "<bos>"]
    template = (
        "<bos>{% for message in messages %}USER: " + PARTS + "{{ '<image>\n' if part['type'] == 'image' else"
        " part['text'] }}{% endfor %}{% endfor %}{% if add_generation_prompt %} ASSISTANT:{% endif %}"
    )
    words = tokenizer(marks, template=template, bos="<bos>")
    config = hf.LlavaConfig(
        vision_config={"model_type": "siglip_vision_model", "vision_use_head": False, **VISION},
        text_config={"model_type": "llama", "vocab_size": len(words), **TEXT},
        image_token_id=1,
        vision_feature_layer=-1,
        vision_feature_select_strategy="full",
        tie_word_embeddings=False,
    )
    processor = hf.LlavaProcessor(
        image_processor=hf.SiglipImageProcessor(size={"height": SIDE, "width": SIDE}),
        tokenizer=words,
        patch_size=PATCH,
        vision_feature_select_strategy="full",
        chat_template=template,
    )
    return save(folder, hf.LlavaForConditionalGeneration, config, processor)


QWEN_MARKS = ["<|im_end|>", "<|image_pad|>", "<|video_pad|>", "<|vision_start|>", "<|vision_end|>", "<|im_start|>"]
QWEN_IDS = {"image_token_id": 1, "video_token_id": 2, "vision_start_token_id": 3, "vision_end_token_id": 4}
QWEN_TURNS = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' }}" + PARTS + "{{ "
    "'<|vision_start|><|image_pad|><|vision_end|>' if part['type'] == 'image' else part['text'] }}{% endfor %}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
QWEN_DEFAULT = (
    "{% if messages[0]['role'] != 'system' %}<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n{% endif %}"
)
MROPE = {**ROPE, "mrope_section": [1, 1, 2]}


def qwen2_5_vl(folder: Path) -> Path:
    """Save a Qwen2.5-VL, whose template has a default system prompt."""
    template = QWEN_DEFAULT + QWEN_TURNS
    words = tokenizer(QWEN_MARKS, template=template)
    config = hf.Qwen2_5_VLConfig(
        vision_config={
            "hidden_size": WIDTH,
            "intermediate_size": WIDTH,
            "depth": 2,
            "num_heads": 2,
            "patch_size": PATCH,
            "out_hidden_size": WIDTH,
            "window_size": 4 * PATCH,
            "fullatt_block_indexes": [1],
        },
        text_config={"vocab_size": len(words), "rope_parameters": {**MROPE}, **TEXT},
        **QWEN_IDS,
        tie_word_embeddings=False,
    )
    pixels = {"shortest_edge": SIDE**2, "longest_edge": (2 * SIDE) ** 2}
    processor = hf.Qwen2_5_VLProcessor(
        image_processor=hf.Qwen2VLImageProcessor(patch_size=PATCH, size=pixels),
        tokenizer=words,
        video_processor=hf.Qwen2VLVideoProcessor(patch_size=PATCH),
        chat_template=template,
    )
    return save(folder, hf.Qwen2_5_VLForConditionalGeneration, config, processor)


def qwen3_vl(folder: Path) -> Path:
    """Save a Qwen3-VL."""
    words = tokenizer(QWEN_MARKS, template=QWEN_TURNS)
    config = hf.Qwen3VLConfig(
        vision_config={
            "hidden_size": WIDTH,
            "intermediate_size": WIDTH,
            "depth": 2,
            "num_heads": 2,
            "patch_size": PATCH,
            "out_hidden_size": WIDTH,
            "num_position_embeddings": 16,
            "deepstack_visual_indexes": [0],
        },
        text_config={
            "vocab_size": len(words),
            "rope_parameters": {**MROPE, "mrope_interleaved": True},
            **TEXT,
        },
        **QWEN_IDS,
        tie_word_embeddings=False,
    )
    pixels = {"shortest_edge": SIDE**2, "longest_edge": (2 * SIDE) ** 2}
    processor = hf.Qwen3VLProcessor(
        image_processor=hf.Qwen2VLImageProcessor(patch_size=PATCH, size=pixels),
        tokenizer=words,
        video_processor=hf.Qwen3VLVideoProcessor(patch_size=PATCH),
        chat_template=QWEN_TURNS,
    )
    return save(folder, hf.Qwen3VLForConditionalGeneration, config, processor)


GEMMA_WINDOW = 96
"""Tokens: short prompts fit into the sliding window with their answers, long ones do not."""


def gemma3(folder: Path) -> Path:
    """Save a Gemma 3, one of whose two layers slides."""
    marks = ["<end_of_turn>", "<bos>", "<start_of_turn>", "<start_of_image>", "<end_of_image>", "<image_soft_token>"]
    template = (
        "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{% set first = messages[0]['content'][0]['text'] + "
        "'\n\n' %}{% set turns = messages[1:] %}{% else %}{% set first = '' %}{% set turns = messages %}{% endif %}"
        "{% for message in turns %}<start_of_turn>user\n{{ first if loop.first else '' }}" + PARTS + "{{ "
        "'<start_of_image>' if part['type'] == 'image' else part['text'] }}{% endfor %}<end_of_turn>\n{% endfor %}"
        "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
    )
    words = tokenizer(
        marks,
        template=template,
        bos="<bos>",
        boi_token="<start_of_image>",
        eoi_token="<end_of_image>",
        image_token="<image_soft_token>",
    )
    config = hf.Gemma3Config(
        vision_config={"vision_use_head": False, **VISION, "image_size": 2 * SIDE},
        text_config={
            "vocab_size": len(words),
            **TEXT,
            "query_pre_attn_scalar": 8,
            "sliding_window": GEMMA_WINDOW,
            "layer_types": ["sliding_attention", "full_attention"],
        },
        mm_tokens_per_image=4,
        tie_word_embeddings=False,
        boi_token_index=3,
        eoi_token_index=4,
        image_token_index=5,
    )
    processor = hf.Gemma3Processor(
        image_processor=hf.Gemma3ImageProcessor(size={"height": 2 * SIDE, "width": 2 * SIDE}),
        tokenizer=words,
        chat_template=template,
        image_seq_length=4,
    )
    return save(folder, hf.Gemma3ForConditionalGeneration, config, processor, spread=0.1)


def internvl(folder: Path) -> Path:
    """Save an InternVL in transformers' own form ("-hf")."""
    marks = ["<|im_end|>", "<IMG_CONTEXT>", "<img>", "</img>", "<video>", "<|im_start|>"]
    template = (
        "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' }}" + PARTS + "{{ "
        "'<IMG_CONTEXT>\n' if part['type'] == 'image' else part['text'] }}{% endfor %}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    words = tokenizer(
        marks,
        template=template,
        start_image_token="<img>",
        end_image_token="</img>",
        context_image_token="<IMG_CONTEXT>",
        video_token="<video>",
    )
    config = hf.InternVLConfig(
        vision_config={**VISION, "image_size": [SIDE, SIDE], "patch_size": [PATCH, PATCH]},
        text_config={"model_type": "qwen2", "vocab_size": len(words), **TEXT},
        image_token_id=1,
        image_seq_length=1,
        downsample_ratio=0.5,
        tie_word_embeddings=False,
    )
    processor = hf.InternVLProcessor(
        image_processor=hf.GotOcr2ImageProcessor(size={"height": SIDE, "width": SIDE}, crop_to_patches=False),
        tokenizer=words,
        video_processor=hf.InternVLVideoProcessor(size={"height": SIDE, "width": SIDE}),
        image_seq_length=1,
        chat_template=template,
    )
    return save(folder, hf.InternVLForConditionalGeneration, config, processor)


IDEFICS_MARKS = ["<end_of_utterance>", "<image>", "<fake_token_around_image>", "<global-img>", "<|im_start|>"]
IDEFICS_TEMPLATE = (
    "<|im_start|>{% for message in messages %}{{ message['role'] | capitalize }}"
    "{{ ':' if message['content'][0]['type'] == 'image' else ': ' }}" + PARTS + "{{ "
    "'<image>' if part['type'] == 'image' else part['text'] }}{% endfor %}<end_of_utterance>\n{% endfor %}"
    "{% if add_generation_prompt %}Assistant:{% endif %}"
)


def idefics3(folder: Path) -> Path:
    """Save an Idefics3, which sees tiles and the whole."""
    return _idefics(
        folder,
        hf.Idefics3ForConditionalGeneration,
        hf.Idefics3Config,
        lambda words: hf.Idefics3Processor(
            hf.Idefics3ImageProcessor(size={"longest_edge": 2 * SIDE}, max_image_size={"longest_edge": SIDE}),
            words,
            image_seq_len=1,
            chat_template=IDEFICS_TEMPLATE,
        ),
    )


def smolvlm(folder: Path) -> Path:
    """Save a SmolVLM."""
    return _idefics(
        folder,
        hf.SmolVLMForConditionalGeneration,
        hf.SmolVLMConfig,
        lambda words: hf.SmolVLMProcessor(
            hf.SmolVLMImageProcessor(size={"longest_edge": 2 * SIDE}, max_image_size={"longest_edge": SIDE}),
            words,
            hf.SmolVLMVideoProcessor(
                size={"longest_edge": 2 * SIDE},
                max_image_size={"longest_edge": SIDE},
                video_sampling={"video_size": {"longest_edge": SIDE}, "fps": 1, "max_frames": 4},
            ),
            image_seq_len=1,
            chat_template=IDEFICS_TEMPLATE,
        ),
    )


def _idefics(folder: Path, model_class: Any, config_class: Any, processor: Callable[[Any], Any]) -> Path:
    tiles = [f"<row_{row}_col_{column}>" for row in (1, 2) for column in (1, 2)]
    words = tokenizer([*IDEFICS_MARKS, *tiles], template=IDEFICS_TEMPLATE)
    config = config_class(
        vision_config=VISION,
        text_config={"model_type": "llama", "vocab_size": len(words), "pad_token_id": 0, **TEXT},
        image_token_id=1,
        scale_factor=2,
        pad_token_id=0,
        tie_word_embeddings=False,
    )
    return save(folder, model_class, config, processor(words))


def paligemma(folder: Path) -> Path:
    """Save a PaliGemma, which has no chat template and reads image and prompt in both directions."""
    words = tokenizer(["<eos>", "<image>", "<bos>"], bos="<bos>", image_token="<image>")
    image_processor = hf.SiglipImageProcessor(size={"height": SIDE, "width": SIDE})
    image_processor.image_seq_length = 4
    processor = hf.PaliGemmaProcessor(image_processor, words)
    config = hf.PaliGemmaConfig(
        vision_config={"model_type": "siglip_vision_model", "vision_use_head": False, **VISION},
        text_config={"model_type": "gemma", "vocab_size": len(words), **TEXT},
        image_token_index=1,
        projection_dim=WIDTH,
        tie_word_embeddings=False,
        hidden_size=WIDTH,
    )
    return save(folder, hf.PaliGemmaForConditionalGeneration, config, processor, spread=0.1)


FAMILIES: dict[str, Callable[[Path], Path]] = {
    "llava": tiny_llava,
    "qwen2_5_vl": qwen2_5_vl,
    "qwen3_vl": qwen3_vl,
    "gemma3": gemma3,
    "internvl": internvl,
    "idefics3": idefics3,
    "smolvlm": smolvlm,
    "paligemma": paligemma,
}
"""By ``model_type`` what saves a tiny VLM of that family into a folder."""


def tiny_lora(base: Path, adapter: Path, merged: Path) -> None:
    """Save a LoRA adapter for a VLM, and the VLM with that adapter merged into its weights."""
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(1)
    model = hf.AutoModelForImageTextToText.from_pretrained(base)
    lora = LoraConfig(r=2, target_modules=["q_proj", "v_proj"], init_lora_weights=False)
    tuned: Any = get_peft_model(model, lora)
    tuned.save_pretrained(adapter)
    tuned.merge_and_unload().save_pretrained(merged)
    hf.AutoProcessor.from_pretrained(base).save_pretrained(merged)
