"""The contract of pyproject.toml on who may import whom, held by import-linter."""

from pathlib import Path

from importlinter.cli import lint_imports

ROOT = Path(__file__).parent.parent


def test_imports_go_strictly_down(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    code = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True, is_debug_mode=False)
    assert code == 0, capsys.readouterr().out
