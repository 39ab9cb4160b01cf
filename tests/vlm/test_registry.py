"""The list of VLMs: what ships, what users add, what is told of faults, and what a VLM lacks here."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from backend.domain.records import VlmGroup
from backend.errors import AppError
from backend.vlm.availability import Gpu, Machine, availability, look_at_machine
from backend.vlm.blind import BLIND_VLM
from backend.vlm.entries import OWN_GROUPS, VlmEntry, read_entries
from backend.vlm.loading import DeviceFacts, device_facts
from backend.vlm.openai_compatible import OpenAiCompatible
from backend.vlm.registry import Registry
from backend.vlm.weights import weights_folder
from backend.vlm.worker import WorkerVlm
from tests.conftest import ROOT

ENTRY = """
- name: Mine
  group: general_open
  family: qwen3_vl
  licence: MIT
  answers: yes
  attention: yes
  gradients: weights in 4 bits let none through
"""
LOCAL = ENTRY + "  transformers: {source: owner/vlm}\n"
REMOTE = ENTRY + "  openai: {base_url: http://localhost:8000/v1, model: mine, key_variable: MY_KEY}\n"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's list, named by the setting; empty as yet."""
    path = tmp_path / "mine.yaml"
    path.touch()
    monkeypatch.setenv("PARALLAX_MODELS", str(path))
    return path


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hub cache without anything in it."""
    cache = tmp_path / "hub"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
    return cache


def entry_of(own: Path, text: str) -> VlmEntry:
    own.write_text(text, "utf-8")
    return Registry.load().find("Mine")


class TestWhatShips:
    def test_every_entry_can_be_used(self) -> None:
        assert Registry.load().problems == ()

    @pytest.mark.parametrize(
        "table", ["endoca_core", "endoca_diagnostic", "surgcheck_zero_shot", "surgcheck_fine_tuned", "verimap_overall"]
    )
    def test_every_vlm_of_the_papers_tables_is_found_by_its_printed_name(self, shared: Path, table: str) -> None:
        header, *lines = (shared / "published" / f"{table}.csv").read_text("utf-8").splitlines()
        place = header.split(",").index("model")
        registry, system = Registry.load(), table.split("_")[0]
        for name in {line.split(",")[place] for line in lines}:
            assert system in registry.find(name).papers

    def test_groups_are_those_the_paper_prints(self, root: Path) -> None:
        lines = (root / "data" / "published" / "endoca_core.csv").read_text("utf-8").splitlines()[1:]
        printed = [line.split(",")[:3] for line in lines]
        found = [Registry.load().find(name) for _, name, _ in printed]
        assert [[entry.group, entry.name, entry.size] for entry in found] == printed

    def test_groups_are_the_papers_and_two_of_our_own(self) -> None:
        assert {entry.group for entry in Registry.load().entries} == {*VlmGroup, *OWN_GROUPS}

    def test_the_box_vlm_and_the_blind_baseline_go_by_their_short_names(self) -> None:
        registry = Registry.load()
        assert [registry.find(name).group for name in OWN_GROUPS] == ["demo", "blind"]
        assert registry.find("blind").name == BLIND_VLM
        box = registry.find("demo").spec
        assert box is not None
        assert Path(box.source) == ROOT / "data" / "demo" / "vlm"

    def test_no_name_stands_for_two_and_every_origin_is_known(self) -> None:
        entries = Registry.load().entries
        names = [name.casefold() for entry in entries for name in (entry.name, *entry.also)]
        assert len(names) == len(set(names))
        assert {entry.adapted_from for entry in entries} - {""} <= {entry.name for entry in entries}

    def test_nothing_runs_foreign_code_or_fetches_weights_unasked(self) -> None:
        specs = [entry.spec for entry in Registry.load().entries if entry.spec]
        assert specs
        assert not [spec.name for spec in specs if spec.trust_remote_code or spec.online]

    def test_what_cannot_be_had_says_why(self) -> None:
        for entry in Registry.load().entries:
            for capability in (entry.answers, entry.attention, entry.gradients):
                assert capability.works != bool(capability.why_not)
            assert entry.answers.works == (entry.backend != "none")
            if entry.backend == "openai":
                assert not entry.attention.works
                assert not entry.gradients.works

    def test_no_temperature_is_sent_to_a_service_that_refuses_one_and_its_note_says_so(self) -> None:
        services = {entry.name: entry for entry in Registry.load().entries if entry.openai}
        assert {name: entry.openai.sends_temperature for name, entry in services.items() if entry.openai} == {
            "GPT-5.5": False, "GPT-5-mini": False, "Grok-4.20": True, "Claude Opus 4.7": False,
        }  # fmt: skip
        for entry in services.values():
            assert ("its answers are not greedy" in entry.note) is (entry.name != "Grok-4.20")

    def test_memory_is_two_bytes_a_weight_and_a_fifth_more(self) -> None:
        entry = Registry.load().find("Qwen2.5-VL-7B")
        assert entry.memory_gb() == pytest.approx(8.3 * 2 * 1.2)
        assert entry.memory_gb("float32") == pytest.approx(8.3 * 4 * 1.2)
        assert entry.memory_gb("4bit") == pytest.approx(8.3 * 0.5 * 1.2)
        assert Registry.load().find("GPT-5.5").memory_gb() is None


class TestUsersList:
    def test_it_adds_to_what_ships(self, own: Path) -> None:
        n_shipped = len(Registry.load().entries)
        own.write_text(LOCAL, "utf-8")
        registry = Registry.load()
        assert registry.problems == ()
        assert len(registry.entries) == n_shipped + 1
        assert registry.find("mine").group is not None

    def test_an_entry_of_a_shipped_name_takes_its_place(self, own: Path) -> None:
        places = [entry.name for entry in Registry.load().entries]
        own.write_text(LOCAL.replace("Mine", "MedGemma-FT"), "utf-8")
        registry = Registry.load()
        assert [entry.name for entry in registry.entries] == places
        assert registry.find("MedGemma-FT").backend == "transformers"

    def test_a_folder_counts_from_the_file_that_names_it(self, own: Path) -> None:
        entry = entry_of(own, ENTRY + "  transformers: {source: ./weights, adapter: ../lora}\n")
        assert entry.spec is not None
        assert entry.spec.source == str(own.parent / "weights")
        assert entry.spec.adapter == str(own.parent.parent / "lora")

    @pytest.mark.parametrize(
        ("text", "line", "words"),
        [
            (LOCAL.replace("general_open", "best"), 3, "Mine: group: groups are general_open, medical_open"),
            (LOCAL.replace("  licence: MIT\n", ""), 2, "Mine: licence: Field required"),
            (LOCAL.replace("licence", "license"), 5, "Mine: license: Extra inputs are not permitted"),
            (LOCAL + "  size: 7\n", 10, "Mine: size: Input should be a valid string"),
            (LOCAL + "  billions: -1\n", 10, "Mine: billions: Input should be greater than 0"),
            (LOCAL.replace("attention: yes", "attention: no"), 7, "Mine: attention: write yes, or the reason why not"),
            (LOCAL.replace("source", "hub"), 9, "Mine: transformers.source: Field required"),
            (
                ENTRY + "  transformers:\n    source: a/b\n    dtype: half\n",
                11,
                "Mine: transformers.dtype: Input should",
            ),
            (REMOTE.replace("MY_KEY", "sk-Secret"), 9, "Mine: openai.key_variable: String should match"),
            (REMOTE.replace("http://localhost", "http://example.org"), 2, "Mine: http:// to example.org would send"),
            (ENTRY, 2, "Mine: give transformers or openai"),
            (LOCAL + REMOTE.split("\n")[-2] + "\n", 2, "Mine: give transformers or openai, not both"),
            ("- name: [\n", 2, "this is not YAML"),
            ("- just words\n", 1, "VLM 1: Input should be"),
            ("name: Mine\n", 1, "the file must be a list"),
            (LOCAL + LOCAL, 11, "Mine: name: it stands above already"),
        ],
    )
    def test_a_fault_is_told_with_file_line_and_field_and_stops_nothing(
        self, own: Path, text: str, line: int, words: str
    ) -> None:
        own.write_text(text, "utf-8")
        registry = Registry.load()
        told = [(problem.file, problem.number) for problem in registry.problems if problem.reason.startswith(words)]
        assert ("mine.yaml", line) in told, registry.problems
        assert "Secret" not in str(registry.problems)
        assert registry.find("demo")

    def test_good_entries_stay_beside_faulty_ones(self, own: Path) -> None:
        own.write_text(LOCAL.replace("Mine", "Good") + LOCAL.replace("general_open", "best"), "utf-8")
        registry = Registry.load()
        assert registry.find("Good")
        assert [problem.number for problem in registry.problems] == [12]

    @pytest.mark.parametrize(("content", "words"), [(None, "cannot be read"), (b"\xff\xfe\x00", "not UTF-8")])
    def test_a_file_that_cannot_be_read_is_told(self, own: Path, content: bytes | None, words: str) -> None:
        own.unlink()
        if content is not None:
            own.write_bytes(content)
        registry = Registry.load()
        assert words in registry.problems[0].reason
        assert registry.entries

    def test_an_empty_list_is_no_fault(self, own: Path) -> None:
        assert read_entries(own) == ((), ())


class TestNames:
    @pytest.mark.parametrize("name", ["Qwen3-VL-8B", "qwen3-vl-8b", "MedGemma", "Qwen2.5-VL-7B-Instruct"])
    def test_a_vlm_is_found_by_any_of_its_names_in_any_case(self, name: str) -> None:
        assert Registry.load().find(name)

    def test_a_name_goes_before_a_second_name(self, own: Path) -> None:
        assert entry_of(own, LOCAL + "  also: [Qwen3-VL-8B]\n").name == "Mine"
        assert Registry.load().find("Qwen3-VL-8B").name == "Qwen3-VL-8B"

    def test_an_unknown_name_lists_the_known_ones(self, own: Path) -> None:
        own.write_text("- name: Mine\n", "utf-8")
        with pytest.raises(AppError, match=r"There is no VLM Mine\. Known: Box VLM, .* Left out for faults"):
            Registry.load().find("Mine")


def saved(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).write_text('{"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}', "utf-8")
    return folder


NO_GPU = Machine((), 10.0)
SMALL_GPU = Machine((Gpu("A", 8.0, 8.0),), 10.0)
TWO_GPUS = Machine((Gpu("A", 16.0, 1.0), Gpu("B", 16.0, 16.0)), 10.0)
APPLE = Machine((), 22.0, is_apple=True)


class TestAvailability:
    @pytest.mark.parametrize(
        ("names", "there"),
        [
            (["config.json", "model.safetensors"], True),
            (["config.json", "model.safetensors.index.json", "model-1.safetensors", "model-2.safetensors"], True),
            (["config.json", "model.safetensors.index.json", "model-1.safetensors"], False),
            (["config.json", "pytorch_model.bin"], False),
            (["model.safetensors"], False),
            ([], False),
        ],
    )
    @pytest.mark.parametrize("cached", [False, True])
    def test_weights_are_here_when_every_file_is(
        self, tmp_path: Path, empty_cache: Path, names: list[str], there: bool, cached: bool
    ) -> None:
        source, commit = "owner/vlm", "0123456789abcdef0123456789abcdef01234567"
        if cached:
            folder = saved(empty_cache / "models--owner--vlm" / "snapshots" / commit, *names)
            refs = saved(empty_cache / "models--owner--vlm" / "refs")
            (refs / "main").write_text(commit, "utf-8")
        else:
            folder = saved(tmp_path / "weights", *names)
        assert weights_folder(source if cached else str(folder), None) == (folder if there else None)

    def test_a_source_that_is_nowhere_is_not_here(self, tmp_path: Path) -> None:
        assert weights_folder("owner/vlm", None) is None
        assert weights_folder("no hub id at all//", None) is None
        assert weights_folder(str(tmp_path / "gone"), None) is None

    @pytest.mark.parametrize(
        ("extra", "machine", "reasons"),
        [
            ("", NO_GPU, ["needs a GPU with 19 GB, or 38 GB of free memory; there are 10 GB"]),
            ("", Machine((), 39.0), []),
            ("", SMALL_GPU, ["needs a GPU with 19 GB; there is one with 8 GB"]),
            ("", TWO_GPUS, ["needs a GPU with 19 GB; there is one with 16 GB"]),
            ("device_map: auto", TWO_GPUS, []),
            ("quantization: 4bit", SMALL_GPU, []),
            ("quantization: 4bit", NO_GPU, ["needs a CUDA GPU with 5 GB"]),
            ("device: cuda", NO_GPU, ["needs a CUDA GPU with 19 GB"]),
            ("device: cpu", TWO_GPUS, ["needs 38 GB of free memory; there are 10 GB"]),
            ("device: mps", NO_GPU, ["needs an Apple GPU"]),
            ("device: mps", APPLE, []),
            ("", APPLE, []),
        ],
    )
    def test_memory_is_weighed_by_device_and_precision(
        self, own: Path, monkeypatch: pytest.MonkeyPatch, extra: str, machine: Machine, reasons: list[str]
    ) -> None:
        monkeypatch.setattr("backend.vlm.availability.find_spec", lambda name: name)
        source = saved(own.parent / "weights", "config.json", "model.safetensors")
        block = ", ".join(part for part in (f"source: {source}", extra) if part)
        entry = entry_of(own, ENTRY + f"  billions: 8\n  transformers: {{{block}}}\n")
        found = availability(entry, machine)
        assert (found.ok, list(found.reasons)) == (not reasons, reasons)

    def test_all_that_is_lacking_is_told_at_once(self, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("backend.vlm.availability.find_spec", lambda name: None)
        text = ENTRY + "  transformers: {source: /nowhere, adapter: /nowhere, quantization: 8bit}\n"
        assert availability(entry_of(own, text), NO_GPU).reasons == (
            "the package torch is not installed",
            "the package transformers is not installed",
            "the package peft is not installed",
            "the package bitsandbytes is not installed",
            "the package accelerate is not installed",
            "its weights are not on this machine",
            "its adapter is not on this machine",
            "needs a CUDA GPU",
        )

    def test_weights_that_may_be_fetched_need_not_be_here(self, own: Path) -> None:
        entry = entry_of(own, ENTRY + "  transformers: {source: owner/vlm, online: yes}\n")
        assert availability(entry, NO_GPU).ok

    def test_a_service_needs_its_key(self, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        entry = entry_of(own, REMOTE)
        monkeypatch.delenv("MY_KEY", raising=False)
        assert availability(entry, NO_GPU).reasons == ("no key in the environment variable MY_KEY",)
        monkeypatch.setenv("MY_KEY", "sk-1")
        assert availability(entry, NO_GPU).ok

    def test_what_cannot_be_asked_says_why(self) -> None:
        found = availability(Registry.load().find("blind"), NO_GPU)
        assert "blind endoca --learn SUITE --answer SUITE" in found.reasons[0]

    def test_looking_loads_no_gpu_library_and_no_client(self) -> None:
        program = (
            "import sys; from backend.vlm.registry import Registry; from backend.vlm.availability import *\n"
            "machine = look_at_machine(); [availability(entry, machine) for entry in Registry.load().entries]\n"
            "print(*{'torch', 'transformers', 'openai'} & set(sys.modules))"
        )
        ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
        assert ran.stdout.strip() == ""

    @pytest.mark.parametrize(
        ("said", "gpus"),
        [
            ("NVIDIA H200, 143771, 143000\n", [("NVIDIA H200", 150.8)]),
            ("A, 100, 50\nB, [N/A], [N/A]\n", [("A", 0.1)]),
            ("NVIDIA-SMI has failed\n", []),
            ("", []),
        ],
    )
    def test_gpus_are_read_from_the_drivers_own_list(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, gpus: list[tuple[str, float]]
    ) -> None:
        tool = tmp_path / "nvidia-smi"
        tool.write_text(f"#!/bin/sh\ncat <<'END'\n{said}END\n", "utf-8")
        tool.chmod(0o755)
        monkeypatch.setattr("shutil.which", lambda name: str(tool))
        assert [(gpu.name, round(gpu.total_gb, 1)) for gpu in look_at_machine().gpus] == gpus

    def test_free_memory_is_the_same_to_whoever_asks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(total=8e9, available=3e9))
        assert look_at_machine().free_memory_gb == 3.0
        assert device_facts("cpu") == DeviceFacts("CPU", 8_000_000_000, 3_000_000_000)


class TestOpening:
    def test_each_backend_opens_through_the_same_door(self, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MY_KEY", "sk-1")
        own.write_text(LOCAL.replace("Mine", "Here") + REMOTE.replace("Mine", "There"), "utf-8")
        here, there = (Registry.load().open_vlm(name) for name in ("here", "there"))
        assert isinstance(here, WorkerVlm)
        assert isinstance(there, OpenAiCompatible)
        assert (here.name, there.name) == ("Here", "There")

    def test_a_service_without_its_key_is_not_opened(self, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("MY_KEY", raising=False)
        own.write_text(REMOTE, "utf-8")
        with pytest.raises(AppError, match="no key in the environment variable MY_KEY"):
            Registry.load().open_vlm("Mine")

    def test_what_cannot_be_asked_says_why_and_what_can(self) -> None:
        with pytest.raises(AppError, match=r"PitVQA-Net cannot be asked from here: .* Those that can: Box VLM, Qwen"):
            Registry.load().open_vlm("PitVQA-Net")
