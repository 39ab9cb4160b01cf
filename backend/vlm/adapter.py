"""A PEFT adapter laid over a VLM: all of its layers, or none."""

__all__ = ["lay_adapter"]

import importlib.util
from pathlib import Path
from typing import Any

from backend.errors import AppError
from backend.vlm.failures import first_line, is_out_of_memory
from backend.vlm.weights import INSTALL_HINT, refuse_misfits

_SHARED = ("vblora_vector_bank", ".tinylora_v.", ".unilora_theta_d.")
"""Tensors that some kinds of adapter save once for all layers: PEFT counts them as missing in each."""


def lay_adapter(model: Any, name: str, folder: Path) -> Any:
    """Lay an adapter's layers into a model and return the model itself, not PEFT's wrapper.

    Args:
        model: The transformers model; it is changed.
        name: The VLM's, for messages.
        folder: Holds the adapter's configuration and weights.

    Raises:
        AppError: The adapter adds virtual tokens in place of layers, which only the wrapper knows,
            or was made for layers that this VLM does not have.
    """
    if importlib.util.find_spec("peft") is None:
        raise AppError(f"{name} is an adapter and needs the package peft.", INSTALL_HINT)
    from peft import PeftConfig, PeftModel, load_peft_weights, set_peft_model_state_dict
    from peft.mapping import PEFT_TYPE_TO_PREFIX_MAPPING

    config = PeftConfig.from_pretrained(str(folder))
    if config.is_prompt_learning:
        raise AppError(f"The adapter of {name} is a learned prompt.", "Only layer adapters such as LoRA are read.")
    try:
        wrapped = PeftModel.from_pretrained(model, str(folder), local_files_only=True)
        # Laid in once more, since PEFT tells only in this way what did not fit.
        fit: Any = set_peft_model_state_dict(wrapped, load_peft_weights(str(folder), device="cpu"))
    except (ValueError, KeyError, RuntimeError) as error:
        if is_out_of_memory(error):
            raise
        raise AppError(
            f"The adapter of {name} does not fit it: {first_line(error)}",
            "See that it was made for the VLM that source names.",
        ) from error
    mark = PEFT_TYPE_TO_PREFIX_MAPPING[config.peft_type]
    missing = [key for key in fit.missing_keys if mark in key and not any(shared in key for shared in _SHARED)]
    refuse_misfits(f"The adapter's weights of {name}", [*missing, *fit.unexpected_keys])
    return wrapped.get_base_model()
