"""The VLM in the box before training: a small LLaVA, its tokenizer and its processor.

LLaVA (Liu et al. 2023) with a SigLIP vision tower and a Llama decoder, both narrow, built
from transformers' own classes, so that the trained folder loads like any other VLM.
"""

__all__ = ["IMAGE_SIZE", "PATCH", "build_processor", "build_tokenizer", "build_vlm"]

from collections.abc import Iterable
from typing import Any

IMAGE_SIZE = 160
"""Pixels a side of what the vision tower sees; frames of any shape are squeezed to it."""

PATCH = 16
"""Pixels a side of one image token."""

VOCABULARY = 1024
"""Tokens: bytes, merges learned on the prompts and replies, and four marks."""

WIDTH, LAYERS, HEADS = 192, 4, 4
"""Of the vision tower and of the decoder alike."""

IMAGE, USER, ANSWER, END = "<image>", "<user>", "<answer>", "<end>"

CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<user>' if message['role'] == 'user' else '<answer>' }}"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}"
    "{{ '<image>' if part['type'] == 'image' else part['text'] }}"
    "{% endfor %}{% endif %}"
    "{% if message['role'] != 'user' %}<end>{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}<answer>{% endif %}"
)
"""One turn: the image, the prompt, the reply. No system prompt."""


def build_tokenizer(texts: Iterable[str]) -> Any:
    """Learn a byte-level BPE tokenizer on texts.

    Args:
        texts: Prompts and replies as they are, without marks.

    Returns:
        A transformers fast tokenizer with the chat template.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[END, IMAGE, USER, ANSWER],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer,
        eos_token=END,
        pad_token=END,
        padding_side="left",
        additional_special_tokens=[IMAGE, USER, ANSWER],
        clean_up_tokenization_spaces=False,
        chat_template=CHAT_TEMPLATE,
        model_max_length=2048,
    )


def build_processor(tokenizer: Any) -> Any:
    """Return the `LlavaProcessor`: frames squeezed to a square, one token a patch."""
    from transformers import LlavaProcessor, SiglipImageProcessor

    image_processor = SiglipImageProcessor(size={"height": IMAGE_SIZE, "width": IMAGE_SIZE}, resample=3)
    return LlavaProcessor(  # type: ignore[no-untyped-call]
        image_processor=image_processor,
        tokenizer=tokenizer,
        patch_size=PATCH,
        vision_feature_select_strategy="full",
        image_token=IMAGE,
        chat_template=CHAT_TEMPLATE,
    )


def build_vlm(tokenizer: Any, seed: int) -> Any:
    """Return an untrained `LlavaForConditionalGeneration`.

    Args:
        tokenizer: Of `build_tokenizer`; gives the size of the vocabulary and the ids of the marks.
        seed: Of the weights.
    """
    import torch
    from transformers import LlamaConfig, LlavaConfig, LlavaForConditionalGeneration, SiglipVisionConfig

    end = tokenizer.convert_tokens_to_ids(END)
    vision = SiglipVisionConfig(
        hidden_size=WIDTH,
        intermediate_size=3 * WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        image_size=IMAGE_SIZE,
        patch_size=PATCH,
        vision_use_head=False,
    )
    text = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=WIDTH,
        intermediate_size=3 * WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=HEADS,
        max_position_embeddings=2048,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=end,
        pad_token_id=end,
    )
    config = LlavaConfig(
        vision_config=vision,
        text_config=text,
        image_token_index=tokenizer.convert_tokens_to_ids(IMAGE),
        projector_hidden_act="gelu",
        vision_feature_layer=-1,
        vision_feature_select_strategy="full",
        tie_word_embeddings=True,
    )
    torch.manual_seed(seed)
    return LlavaForConditionalGeneration(config)
