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


# What is made for every exchange: kept for the next one when it goes, and in no reference cycle.
# Decorators in a `.pxd` would say this better, but Cython heeds them only in a `.pyx`.
LIGHT = {"answer", "forward", "heads"}
KEPT = {"freelist": 64}
ACYCLIC = {"no_gc": True}
MANNERS = {stem: {**KEPT, **ACYCLIC} for stem in LIGHT} | {"framing": ACYCLIC}


def extensions():
    """Every module that has a `.pxd`, compiled from its `.pyx` or, mostly, its `.py`."""
    if os.environ.get("STEELYARD_PURE") == "1":
        return []
    try:
        from Cython.Build import cythonize
        from Cython.Compiler.Options import get_directive_defaults
    except ImportError:
        return []
    get_directive_defaults().update(freelist=0, no_gc=False)  # or they would be unknown
    modules = []
    for declared in sorted(SOURCE.glob("steelyard/**/*.pxd")):
        modules += cythonize(
            [extension(declared)],
            build_dir="build/cython",
            compiler_directives={
                "language_level": 3,
                "annotation_typing": False,
                **MANNERS.get(declared.stem, {}),
            },
        )
    return modules


def extension(declared):
    name = ".".join(declared.relative_to(SOURCE).with_suffix("").parts)
    source = next(path for end in (".pyx", ".py") if (path := declared.with_suffix(end)).exists())
    # Small code is what counts between two system calls, but for loops over octets.
    level = "-O3" if declared.stem == "octets" else "-O2"
    # With `tp_new` as a vectorcall, Cython 3.3 goes through two functions more for each object.
    direct = [("CYTHON_VECTORCALL_TPNEW", "0")]
    words = [level, "-g0", "-fno-plt"]
    return Extension(name, [str(source)], define_macros=direct, extra_compile_args=words)


setup(ext_modules=extensions(), cmdclass={"build_ext": AllOrNothing})
