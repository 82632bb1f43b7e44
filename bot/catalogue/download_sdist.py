"""Runs pip with this file's arguments, and ends it where it would unpack a source archive: the archive is kept, nothing of it is run.

`pip download` runs the build script of a source archive to learn its dependencies, also where none are wanted
(https://github.com/pypa/pip/issues/1884). A program of its own, because it changes pip: run it by its path, with the folder where the
archive goes as the first argument and those of `pip download` behind it. Temporary files are left behind; set TMPDIR.
"""

from __future__ import annotations

import os
import runpy
import shutil
import sys
from typing import NoReturn


def main() -> None:
    """Run pip until it has the archive."""
    folder, *arguments = sys.argv[1:]

    def keep(archive: str, *_: object, **__: object) -> NoReturn:
        shutil.copy(archive, folder)
        sys.stdout.flush()
        os._exit(0)  # pip would go on after an exception

    def refuse(event: str, values: tuple[object, ...]) -> None:
        """Whatever pip's own code may become: every build script runs in a Python of its own."""
        if event == "subprocess.Popen" and str(values[0]) == sys.executable:
            sys.stderr.write("ERROR: this version of pip would run the build script of a source archive\n")
            os._exit(1)

    from pip._internal.operations import prepare

    prepare.unpack_file = keep  # type: ignore[assignment, attr-defined]
    sys.addaudithook(refuse)
    sys.argv = ["pip", *arguments]
    runpy.run_module("pip", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
