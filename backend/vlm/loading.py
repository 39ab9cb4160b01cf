"""Weights and processor of a transformers VLM, from a folder or the hub's cache, onto a device.

Nothing is fetched unless the spec says so, no code that lies beside weights is run unless it
says so, and weights are read from safetensors files alone: a pickle can run anything.
"""

__all__ = ["DeviceFacts", "Loaded", "LocalSpec", "device_facts", "load"]

import importlib.util
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from backend.errors import AppError

Device = Literal["auto", "cpu", "cuda", "mps"]
Dtype = Literal["auto", "float32", "bfloat16", "float16"]
Quantization = Literal["4bit", "8bit"]


@dataclass(frozen=True, slots=True)
class LocalSpec:
    """Which VLM, and how it is loaded."""

    source: str
    """A folder, or a hub id such as ``Qwen/Qwen3-VL-4B-Instruct``."""
    name: str
    """Its name among the VLMs of a store."""
    revision: str | None = None
    """Branch, tag or commit of a hub id; None takes the main one."""
    adapter: str | None = None
    """Folder or hub id of a PEFT adapter laid over the weights."""
    device: Device = "auto"
    """``auto`` takes the GPU where there is one."""
    dtype: Dtype = "auto"
    """``auto``: bfloat16 on CUDA, float16 on MPS, float32 on the CPU."""
    device_map: str | None = None
    """Such as ``auto``, which spreads the weights over several devices; accelerate does it."""
    quantization: Quantization | None = None
    """Weights in four or eight bits, by bitsandbytes; CUDA only."""
    trust_remote_code: bool = False
    """Whether Python code that lies beside the weights may run."""
    online: bool = False
    """Whether missing files may be fetched from the hub."""
    attn_implementation: str | None = None
    """Such as ``eager`` or ``sdpa``; None leaves transformers' choice."""


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A VLM that can be asked."""

    model: Any
    """The transformers model in evaluation mode, an adapter's layers inside it."""
    processor: Any
    """Its processor: tokenizer, image processor and chat template."""


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """A device and its memory in bytes."""

    name: str
    total: int | None
    """None where it cannot be told."""
    free: int | None
    """None where it cannot be told."""


def load(spec: LocalSpec) -> Loaded:
    """Load weights and processor.

    The sampling fields of the VLM's own generation settings are emptied, since decoding is
    greedy; whatever else they hold (a repetition penalty, say) belongs to the VLM and stays.

    Raises:
        AppError: Something is missing: the weights, a package, a GPU, memory.
    """
    import torch

    device = _chosen_device(spec)
    spec = replace(spec, source=_checked(spec.source, "model", spec))
    try:
        processor = _processor(spec)
        model = _model(spec, device)
        if spec.adapter is not None:
            model = _with_adapter(model, spec)
        if spec.device_map is None and spec.quantization is None:
            model = model.to(device)
    except ImportError as error:
        raise AppError(f"{spec.name} needs a package that is not installed: {error}", _INSTALL_HINT) from error
    except torch.OutOfMemoryError as error:
        raise AppError(
            f"The memory of {device} does not hold {spec.name}.",
            "Free it, choose a smaller VLM, or load this one in 4 bits.",
        ) from error
    except (OSError, ValueError, KeyError, RuntimeError, TypeError, AttributeError) as error:
        raise _not_loaded(spec, error) from error
    model.eval()
    _decode_greedily(model, processor)
    return Loaded(model, processor)


def device_facts(device: str) -> DeviceFacts:
    """Return name and memory of a device of this machine.

    Args:
        device: As torch writes it: ``cpu``, ``cuda``, ``cuda:1``, ``mps``.
    """
    import torch

    if device.startswith("cuda"):
        free, total = torch.cuda.mem_get_info(torch.device(device))
        return DeviceFacts(torch.cuda.get_device_name(torch.device(device)), total, free)
    if device.startswith("mps"):
        total = torch.mps.recommended_max_memory()
        return DeviceFacts("Apple GPU", total, total - torch.mps.driver_allocated_memory())
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return DeviceFacts("CPU", None, None)
    page = os.sysconf("SC_PAGE_SIZE")
    return DeviceFacts("CPU", page * os.sysconf("SC_PHYS_PAGES"), _available_memory())


_INSTALL_HINT = "Install it into the environment the app runs in, then start the app again."


def _available_memory() -> int | None:
    """Return what Linux says could be used without swapping, in bytes; None elsewhere."""
    facts = Path("/proc/meminfo")
    lines = facts.read_text("ascii").splitlines() if facts.is_file() else []
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)


def _chosen_device(spec: LocalSpec) -> str:
    import torch

    here = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if spec.device != "auto" and not here[spec.device]:
        raise AppError(
            f"{spec.name} is to run on {spec.device}, which this machine does not offer.",
            f"Use one of: {', '.join(name for name, there in here.items() if there)}.",
        )
    if spec.quantization is not None and not here["cuda"]:
        raise AppError(f"{spec.name} in {spec.quantization} needs a CUDA GPU.", "Load it without quantization.")
    if spec.device != "auto":
        return spec.device
    return next(name for name in ("cuda", "mps", "cpu") if here[name])


def _chosen_dtype(spec: LocalSpec, device: str) -> Any:
    import torch

    if spec.dtype != "auto":
        return getattr(torch, spec.dtype)
    return {"cuda": torch.bfloat16, "mps": torch.float16, "cpu": torch.float32}[device]


def _hub(spec: LocalSpec) -> dict[str, Any]:
    """Return what every ``from_pretrained`` is told about where files may come from."""
    return {
        "revision": spec.revision,
        "local_files_only": not spec.online,
        "trust_remote_code": spec.trust_remote_code,
    }


def _processor(spec: LocalSpec) -> Any:
    from transformers import AutoConfig, AutoProcessor

    # Read first: its error says plainly where a VLM brings code of its own.
    AutoConfig.from_pretrained(spec.source, **_hub(spec))
    auto: Any = AutoProcessor
    return auto.from_pretrained(spec.source, **_hub(spec))


def _model(spec: LocalSpec, device: str) -> Any:
    from transformers import AutoModelForImageTextToText

    options: dict[str, Any] = {"dtype": _chosen_dtype(spec, device), "use_safetensors": True, **_hub(spec)}
    if spec.attn_implementation is not None:
        options["attn_implementation"] = spec.attn_implementation
    if spec.device_map is not None or spec.quantization is not None:
        options["device_map"] = spec.device_map or device
    if spec.quantization is not None:
        options["quantization_config"] = _quantization(spec.quantization, options["dtype"])
    return AutoModelForImageTextToText.from_pretrained(spec.source, **options)


def _quantization(bits: Quantization, dtype: Any) -> Any:
    from transformers import BitsAndBytesConfig

    if importlib.util.find_spec("bitsandbytes") is None:
        raise AppError(f"Loading in {bits} needs the package bitsandbytes.", _INSTALL_HINT)
    config: Any = BitsAndBytesConfig
    if bits == "8bit":
        return config(load_in_8bit=True)
    return config(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=dtype)


def _with_adapter(model: Any, spec: LocalSpec) -> Any:
    """Lay the adapter's layers into the model and return the model itself, not PEFT's wrapper.

    Raises:
        AppError: The adapter adds virtual tokens in place of layers, which only the wrapper knows.
    """
    if importlib.util.find_spec("peft") is None:
        raise AppError(f"{spec.name} is an adapter and needs the package peft.", _INSTALL_HINT)
    from peft import PeftModel

    wrapped = PeftModel.from_pretrained(model, _adapter_folder(spec), local_files_only=True)
    if wrapped.active_peft_config.is_prompt_learning:
        raise AppError(f"The adapter of {spec.name} is a learned prompt.", "Only layer adapters such as LoRA are read.")
    return wrapped.get_base_model()


def _adapter_folder(spec: LocalSpec) -> str:
    """Return the folder of an adapter; of one on the hub nothing but configuration and safetensors is taken."""
    from huggingface_hub import snapshot_download

    assert spec.adapter is not None
    source = _checked(spec.adapter, "adapter", spec)
    if Path(source).is_dir():
        return source
    folder = snapshot_download(
        source, local_files_only=not spec.online, allow_patterns=["adapter_config.json", "adapter_model*.safetensors"]
    )
    return _checked(folder, "adapter", spec)


def _checked(source: str, stem: str, spec: LocalSpec) -> str:
    """Return a source, and of a folder see that it holds a configuration and safetensors weights.

    Args:
        source: Folder or hub id; a hub id is looked up later, by transformers.
        stem: ``model`` or ``adapter``: how its files are called.
        spec: For the message.
    """
    folder = Path(source).expanduser()
    if not folder.is_dir():
        if source.startswith((".", "/", "~")) or len(Path(source).parts) != 2:
            raise AppError(f"The folder of {spec.name} is not there: {source}.", "Check the path in the list of VLMs.")
        return source
    config = "config.json" if stem == "model" else "adapter_config.json"
    if not (folder / config).is_file():
        raise AppError(f"The folder of {spec.name} holds no {config}.", f"Put all files of the VLM into {source}.")
    if not list(folder.glob(f"{stem}*.safetensors")):
        pickled = list(folder.glob("*.bin")) + list(folder.glob("*.pt")) + list(folder.glob("*.pth"))
        found = f"; {pickled[0].name} is a pickle and is never opened" if pickled else ""
        raise AppError(
            f"The folder of {spec.name} holds no {stem}*.safetensors{found}.",
            "Get the safetensors files of the VLM, or save it anew with save_pretrained.",
        )
    return str(folder)


def _not_loaded(spec: LocalSpec, error: Exception) -> AppError:
    """Put in words why transformers could not load a VLM."""
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    on_hub = [source for source in (spec.source, spec.adapter) if source and not Path(source).is_dir()]
    if isinstance(error, OSError) and on_hub and not spec.online:
        return AppError(
            f"The files of {spec.name} ({on_hub[0]}) are not all on this machine: its configuration, *.safetensors "
            f"and, of a VLM, the processor's files are needed. {reason}",
            f"Fetch them once with: hf download {on_hub[0]} – or allow fetching (online: true in the list of VLMs).",
        )
    if "trust_remote_code" in str(error):
        return AppError(
            f"{spec.name} brings Python code of its own, which is not run unless you ask for it.",
            "If you trust its authors, set trust_remote_code: true for it in the list of VLMs.",
        )
    return AppError(
        f"{spec.name} cannot be loaded: {reason}", "Check that the folder is complete and is an image-text-to-text VLM."
    )


def _decode_greedily(model: Any, processor: Any) -> None:
    """Empty the sampling fields of the generation settings and fill in missing marks."""
    settings = model.generation_config
    for field in (
        "temperature", "top_k", "top_p", "top_h", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff", "penalty_alpha",
    ):  # fmt: skip
        if getattr(settings, field, None) is not None:
            setattr(settings, field, None)
    settings.do_sample = False
    settings.num_beams = 1
    settings.max_length = None
    tokenizer = processor.tokenizer
    if settings.eos_token_id is None:
        settings.eos_token_id = tokenizer.eos_token_id
    if settings.pad_token_id is None:
        ends = settings.eos_token_id
        settings.pad_token_id = tokenizer.pad_token_id
        if settings.pad_token_id is None:
            settings.pad_token_id = ends[0] if isinstance(ends, list) else ends
