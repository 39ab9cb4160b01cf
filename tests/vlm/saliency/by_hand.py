"""The same saliency computed the wasteful way, with transformers alone."""

__all__ = ["ByHand", "picture_at"]

from pathlib import Path
from typing import Any

import torch
from PIL import Image

from tests.vlm.tiny_models import hf


class ByHand:
    """A VLM loaded with plain attention, in float64 unless said otherwise.

    Args:
        folder: Holds it.
        dtype: Of its weights.
    """

    def __init__(self, folder: Path, dtype: torch.dtype = torch.float64) -> None:
        self.processor = hf.AutoProcessor.from_pretrained(folder)
        self.model = hf.AutoModelForImageTextToText.from_pretrained(folder, dtype=dtype, attn_implementation="eager")
        self.family: str = self.model.config.model_type

    def asked(self, image: Image.Image, prompt: str) -> dict[str, Any]:
        """Return a prompt as tensors."""
        if self.family == "paligemma":
            inputs = dict(self.processor(images=image, text=f"<image>{prompt}", return_tensors="pt"))
            inputs.pop("labels", None)
        else:
            system = [{"role": "system", "content": [{"type": "text", "text": ""}]}] * (self.family == "qwen2_5_vl")
            content = [{"type": "image", "image": image}, {"type": "text", "text": prompt}]
            inputs = dict(
                self.processor.apply_chat_template(
                    [*system, {"role": "user", "content": content}],
                    add_generation_prompt=True,
                    tokenize=True,
                    return_dict=True,
                    return_tensors="pt",
                )
            )
        return {n: value.to(self.model.dtype) if value.is_floating_point() else value for n, value in inputs.items()}

    def answer_ids(self, answer: str) -> list[int]:
        ids: list[int] = self.processor.tokenizer(answer, add_special_tokens=False).input_ids
        return ids

    def whole(self, image: Image.Image, prompt: str, answer: str) -> dict[str, Any]:
        """Return a prompt and all of its answer as tensors."""
        inputs, ids = self.asked(image, prompt), torch.tensor([self.answer_ids(answer)])
        kinds = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "mm_token_type_ids": torch.zeros_like(ids)}
        kinds["token_type_ids"] = torch.full_like(ids, int(self.family == "paligemma"))
        return {name: torch.cat([value, kinds[name]], 1) if name in kinds else value for name, value in inputs.items()}

    def attentions(self, image: Image.Image, prompt: str, answer: str) -> tuple[Any, Any]:
        """Return attention from the rows that predict the answer, (layers, heads, rows, keys), and image places."""
        inputs = self.whole(image, prompt, answer)
        places = (inputs["input_ids"][0] == self.model.config.image_token_id).nonzero().flatten()
        with torch.no_grad():
            told = self.model(**inputs, output_attentions=True, use_cache=False).attentions
        rows = slice(-len(self.answer_ids(answer)) - 1, -1)
        return torch.stack([layer[0, :, rows] for layer in told]), places

    def log_likelihood_while_generating(self, image: Image.Image, prompt: str, answer: str) -> float:
        """Return the answer's log-likelihood as `generate` sees it, token by token with a cache, the answer forced."""
        inputs, ids = self.asked(image, prompt), self.answer_ids(answer)
        start = inputs["input_ids"].shape[1]

        def force(so_far: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
            forced = torch.full_like(scores, -torch.inf)
            forced[:, ids[so_far.shape[1] - start]] = 0
            return forced

        self.model.generation_config.eos_token_id = None
        said = self.model.generate(
            **inputs,
            max_new_tokens=len(ids),
            do_sample=False,
            logits_processor=[force],
            output_logits=True,
            return_dict_in_generate=True,
        )
        steps = [logits[0].double().log_softmax(-1)[token] for logits, token in zip(said.logits, ids, strict=True)]
        return float(torch.stack(steps).sum())

    def embeddings(self, image: Image.Image, prompt: str) -> Any:
        """Return what the decoder reads at the image's places, shape (patches, channels).

        The vision tower's attention is silenced, so that each token knows of its own place alone.
        """
        inputs, kept = self.asked(image, prompt), []

        def silence(_module: Any, _args: Any, outputs: Any) -> Any:
            return (torch.zeros_like(outputs[0]), *outputs[1:]) if isinstance(outputs, tuple) else outputs * 0

        tower = self.model.get_encoder(modality="image")
        attention = [module for module in tower.modules() if type(module).__name__.endswith("Attention")]
        assert attention
        hooks = [module.register_forward_hook(silence) for module in attention]
        hooks.append(
            self.model.get_decoder().register_forward_pre_hook(
                lambda _module, _args, kwargs: kept.append(kwargs["inputs_embeds"]), with_kwargs=True
            )
        )
        with torch.no_grad():
            self.model(**inputs, use_cache=False)
        for hook in hooks:
            hook.remove()
        return kept[0][0, inputs["input_ids"][0] == self.model.config.image_token_id]

    def gradient_times_embedding(self, image: Image.Image, prompt: str, answer: str) -> Any:
        """Return it at the image's places, from a pass that is followed from the pixels on, shape (patches,)."""
        inputs, ids = self.whole(image, prompt, answer), torch.tensor(self.answer_ids(answer))
        inputs["pixel_values"].requires_grad_()
        kept = []

        def keep(_module: Any, _args: Any, kwargs: dict[str, Any]) -> None:
            kwargs["inputs_embeds"].retain_grad()
            kept.append(kwargs["inputs_embeds"])

        hook = self.model.get_decoder().register_forward_pre_hook(keep, with_kwargs=True)
        logits = self.model(**inputs, use_cache=False).logits[0, -len(ids) - 1 : -1]
        hook.remove()
        logits.log_softmax(-1).gather(1, ids[:, None]).sum().backward()
        self.model.zero_grad()
        places = inputs["input_ids"][0] == self.model.config.image_token_id
        return (kept[0] * kept[0].grad).sum(-1)[0, places].detach().numpy()

    def slopes(self, image: Image.Image, prompt: str, answer: str, step: float = 1e-2) -> list[float]:
        """Return how fast the log-likelihood grows as one patch's embedding is scaled, by central differences.

        The step is wide: norms and softmaxes are computed in float32 whatever the weights are.
        """
        inputs, ids = self.whole(image, prompt, answer), torch.tensor(self.answer_ids(answer))
        places = (inputs["input_ids"][0] == self.model.config.image_token_id).nonzero().flatten().tolist()

        def at(place: int, factor: float) -> float:
            def scale(_module: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
                embeddings = kwargs["inputs_embeds"].clone()
                embeddings[0, place] *= factor
                return args, {**kwargs, "inputs_embeds": embeddings}

            hook = self.model.get_decoder().register_forward_pre_hook(scale, with_kwargs=True)
            with torch.no_grad():
                logits = self.model(**inputs, use_cache=False).logits[0, -len(ids) - 1 : -1]
            hook.remove()
            return float(logits.log_softmax(-1).gather(1, ids[:, None]).sum())

        return [(at(place, 1 + step) - at(place, 1 - step)) / (2 * step) for place in places]


def picture_at(base: Image.Image, region: tuple[float, float, float, float]) -> Image.Image:
    """Return a picture with the colours of one region, given in fractions, turned round."""
    width, height = base.size
    left, top, right, bottom = region
    box = (round(left * width), round(top * height), round(right * width), round(bottom * height))
    changed = base.copy()
    changed.paste(base.crop(box).point(lambda value: (value + 128) % 256), box)
    return changed
