"""The compiled hot path: extension modules from the same `.py` files, with a `.pxd` beside each.

Everything else about the package is in pyproject.toml. Where Cython or a C compiler is missing, or
`STEELYARD_PURE=1` is set, nothing is compiled, and the `.py` files run as they are.
"""

import os
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCE = Path("src")


class AllOrNothing(build_ext):
    """Extension modules call each other as C: a half of them would not even import."""

    def finalize_options(self):
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()  # one at a time takes minutes

    def run(self):
        try:
            super().run()
        except Exception as error:  # of the compiler, or for want of one
            if os.environ.get("STEELYARD_PURE") == "0":
                raise
            sys.stderr.write(f"steelyard stays pure Python: {error}\n")
            self._clear()
            self.extensions = self.distribution.ext_modules = []

    def _clear(self):
        for extension in self.extensions:
            for place in {self.get_ext_fullpath(extension.name), self._beside(extension.name)}:
                Path(place).unlink(missing_ok=True)

    def _beside(self, name):
        return SOURCE / self.get_ext_filename(name)


def extensions():
    """Every module that has a `.pxd`, compiled from its `.pyx` or, mostly, its `.py`."""
    if os.environ.get("STEELYARD_PURE") == "1":
        return []
    try:
        from Cython.Build import cythonize
    except ImportError:
        return []
    modules = []
    for declared in sorted(SOURCE.glob("steelyard/**/*.pxd")):
        name = ".".join(declared.relative_to(SOURCE).with_suffix("").parts)
        source = next(
            path for end in (".pyx", ".py") if (path := declared.with_suffix(end)).exists()
        )
        modules.append(
            Extension(
                name,
                [str(source)],
                # Small code is what counts between two system calls, but for loops over octets.
                extra_compile_args=[
                    "-O3" if declared.stem == "octets" else "-O2",
                    "-g0",
                    "-fno-plt",
                ],
            )
        )
    return cythonize(
        modules,
        build_dir="build/cython",
        compiler_directives={"language_level": 3, "annotation_typing": False},
    )


setup(ext_modules=extensions(), cmdclass={"build_ext": AllOrNothing})
