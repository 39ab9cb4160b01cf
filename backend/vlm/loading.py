"""Weights and processor of a transformers VLM, from a folder or the hub's cache, onto a device.

Nothing is fetched unless the spec says so, no code that lies beside weights is run unless it
says so, and weights are read from safetensors files alone: a pickle can run anything. Weights
that are not there, or do not fit, are an error: made-up ones would answer, too.
"""

__all__ = ["DeviceFacts", "Loaded", "LocalSpec", "device_facts", "load", "main_memory"]

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from backend.errors import AppError
from backend.vlm.adapter import lay_adapter
from backend.vlm.failures import MEMORY_HINT, first_line, is_out_of_memory
from backend.vlm.weights import (
    ADAPTER,
    INSTALL_HINT,
    MODEL,
    Files,
    broken_file,
    cached_folder,
    download_command,
    fetched,
    is_folder,
    lacking_file,
    refuse_misfits,
)

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
    """Whether missing files may be fetched from the hub; never files of another commit than the cached."""
    attn_implementation: str | None = None
    """Such as ``eager`` or ``sdpa``; None leaves transformers' choice."""


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A VLM that can be asked."""

    model: Any
    """The transformers model in evaluation mode, an adapter's layers inside it."""
    processor: Any
    """Its processor: tokenizer, image processor and chat template."""
    dtype: str
    """Of its weights, as torch calls it: what ``auto`` came to."""


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """A device and its memory in bytes."""

    name: str
    total: int
    free: int


def load(spec: LocalSpec) -> Loaded:
    """Load weights and processor.

    The sampling fields of the VLM's own generation settings are emptied, since decoding is
    greedy; whatever else they hold (a repetition penalty, say) belongs to the VLM and stays.

    Raises:
        AppError: Something is missing: the weights or a part of them, a package, a GPU, memory.
    """
    device = _chosen_device(spec)
    source = _folder_of(spec, spec.source, spec.revision, MODEL)
    adapter = None if spec.adapter is None else _folder_of(spec, spec.adapter, None, ADAPTER)
    try:
        processor = _processor(spec, source)
        model = _model(spec, source, device)
        dtype = str(model.dtype).removeprefix("torch.")
        if adapter is not None:
            model = lay_adapter(model, spec.name, adapter)
        if spec.device_map is None and spec.quantization is None:
            model = model.to(device)
    except AppError:
        raise
    except Exception as error:
        raise _not_loaded(spec, device, error) from error
    model.eval()
    _decode_greedily(model, processor)
    return Loaded(model, processor, dtype)


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
    return main_memory()


def main_memory() -> DeviceFacts:
    """Return this machine's main memory; free is what could be used without swapping. No GPU library is loaded."""
    import psutil  # type: ignore[import-untyped]

    memory = psutil.virtual_memory()
    return DeviceFacts("CPU", int(memory.total), int(memory.available))


_PICKLES = frozenset({".bin", ".pt", ".pth", ".ckpt"})


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


def _local(spec: LocalSpec) -> dict[str, Any]:
    """Return what every ``from_pretrained`` is told: all is here, but for code of another id that may run."""
    return {
        "local_files_only": not (spec.online and spec.trust_remote_code),
        "trust_remote_code": spec.trust_remote_code,
    }


def _processor(spec: LocalSpec, source: Path) -> Any:
    from transformers import AutoConfig, AutoProcessor

    # Read first: its error says plainly where a VLM brings code of its own.
    AutoConfig.from_pretrained(source, **_local(spec))
    auto: Any = AutoProcessor
    return auto.from_pretrained(source, **_local(spec))


def _model(spec: LocalSpec, source: Path, device: str) -> Any:
    """Load the weights, all that the VLM has and no others.

    Raises:
        AppError: A tensor is missing, or of another shape; transformers would draw one at random.
    """
    from transformers import AutoModelForImageTextToText

    options: dict[str, Any] = {"dtype": _chosen_dtype(spec, device), "use_safetensors": True, **_local(spec)}
    if spec.attn_implementation is not None:
        options["attn_implementation"] = spec.attn_implementation
    if spec.device_map is not None or spec.quantization is not None:
        options["device_map"] = spec.device_map or device
    if spec.quantization is not None:
        options["quantization_config"] = _quantization(spec.quantization, options["dtype"])
    auto: Any = AutoModelForImageTextToText
    # What does not fit is taken here only to be named below: otherwise transformers names nothing.
    told = {"output_loading_info": True, "ignore_mismatched_sizes": True}
    model, found = auto.from_pretrained(source, **told, **options)
    refuse_misfits(
        f"The weights of {spec.name}", [*found["missing_keys"], *(name for name, *_ in found["mismatched_keys"])]
    )
    return model


def _quantization(bits: Quantization, dtype: Any) -> Any:
    from transformers import BitsAndBytesConfig

    if importlib.util.find_spec("bitsandbytes") is None:
        raise AppError(f"Loading in {bits} needs the package bitsandbytes.", INSTALL_HINT)
    config: Any = BitsAndBytesConfig
    if bits == "8bit":
        return config(load_in_8bit=True)
    return config(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=dtype)


def _folder_of(spec: LocalSpec, source: str, revision: str | None, files: Files) -> Path:
    """Return the folder that a source's files lie in, after a look at whether they are all there and whole.

    Raises:
        AppError: They are not, or an adapter lies beside the weights, which transformers would lay over them unasked.
    """
    what = spec.name if files is MODEL else f"the adapter of {spec.name}"
    if is_folder(source):
        folder = Path(source).expanduser()
        if not folder.is_dir():
            raise AppError(f"The folder of {what} is not there: {source}.", "Check the path in the list of VLMs.")
        where, again = f"The folder of {what}", "Get all its files anew, or save it anew with save_pretrained."
    elif source.count("/") != 1:
        raise AppError(
            f"The folder of {what} is not there: {source}.",
            "Check source in the list of VLMs: a folder begins with ./, / or ~, and a hub id is owner/name.",
        )
    else:
        folder = _snapshot(spec, what, source, revision, files)
        where = f"The snapshot of {what} ({source})"
        again = f"Fetch it anew: {download_command(source, revision)} – its publisher must give safetensors files."
    if files is MODEL and (folder / ADAPTER.config).is_file():
        raise AppError(
            f"{where} holds {ADAPTER.config}: it is an adapter, or has one beside its weights.",
            "Keep an adapter in a folder of its own, named in adapter, and in source name the VLM it belongs to.",
        )
    if lacking := lacking_file(folder, files):
        pickled = sorted(path.name for path in folder.iterdir() if path.suffix in _PICKLES)
        never = f"; {pickled[0]} is a pickle and is never opened" if pickled else ""
        raise AppError(f"{where} holds no {lacking}{never}.", again)
    try:
        broken = broken_file(folder, files)
    except OSError as error:
        raise AppError(f"{folder} cannot be read ({error.strerror}).", "Check its permissions.") from error
    if broken:
        raise AppError(f"{where} holds {broken} cut short, or what is no safetensors file.", again)
    return folder


def _snapshot(spec: LocalSpec, what: str, source: str, revision: str | None, files: Files) -> Path:
    if spec.online:
        return fetched(source, revision, files, with_code=spec.trust_remote_code and files is MODEL)
    folder = cached_folder(source, revision, files)
    if folder is None or lacking_file(folder, files):
        raise AppError(
            f"The files of {what} ({source}) are not all on this machine. Needed are {files.config}, {files.weights}"
            f"{' or its parts, and the files of the processor' if files is MODEL else ''}.",
            f"Fetch them once with: {download_command(source, revision)} – "
            "or allow fetching (online: true in the list of VLMs).",
        )
    return folder


def _not_loaded(spec: LocalSpec, device: str, error: Exception) -> AppError:
    """Put in words why a VLM whose files are here could not be loaded."""
    if is_out_of_memory(error):
        return AppError(f"The memory of {device} does not hold {spec.name}.", MEMORY_HINT)
    if isinstance(error, ImportError):
        return AppError(f"{spec.name} needs a package that is not installed: {first_line(error)}", INSTALL_HINT)
    if "trust_remote_code" in str(error):
        return AppError(
            f"{spec.name} brings Python code of its own, which is not run unless you ask for it.",
            "If you trust its authors, set trust_remote_code: true for it in the list of VLMs.",
        )
    where = "its folder" if is_folder(spec.source) else f"its snapshot ({download_command(spec.source, spec.revision)})"
    return AppError(
        f"{spec.name} cannot be loaded: {first_line(error) or type(error).__name__}",
        f"Check that {where} is complete and is an image-text-to-text VLM.",
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
