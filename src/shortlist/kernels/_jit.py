"""The one place that calls numba: ``@kernel``, and the cache its results live in.

Numba's own cache notices edits in a kernel's own file only, so a kernel that calls a
loss defined elsewhere would keep returning what the *old* loss returned. Ours lives in
a folder named after a digest of every source file that a kernel may come to see: an edit
or upgrade of these starts a fresh folder, and folders of other digests are pruned once
they are stale. Layers above all kernels are not among them: nothing below imports these.

A signature that mentions a type defined outside the package (a user's own loss) is
compiled anew in each process and never stored: its source is outside the digest, and
reading an index that names a class of somebody's ``__main__`` would fail.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import time
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path


@contextmanager
def _without_imports(*names):
    """Have imports of modules that nobody needs here fail, if they are not loaded yet."""
    unloaded = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(unloaded))  # what is None cannot be imported
    try:
        yield
    finally:
        for name in unloaded:
            sys.modules.pop(name, None)


# Numba reads a file of settings with it, if there is one where the process begins.
with _without_imports(*([] if Path(".numba_config.yaml").exists() else ["yaml"])):
    from numba import njit
from llvmlite import binding as llvm  # noqa: E402
from numba.core import event  # noqa: E402
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator  # noqa: E402
from numba.core.codegen import JITCodeLibrary  # noqa: E402
from numba.core.runtime import rtsys  # noqa: E402

_BLAS = "scipy.linalg.cython_blas"


def _prepare_to_compile(target_context):
    """Load what numba needs to compile, and what reading compiled kernels does not need.

    Numba loads it before it reads anything, which takes a while. One part of it looks for
    BLAS, and would import ``scipy.linalg``, which takes longer than all of ours; it is
    imported while there seems to be none. Nothing is lost: the answer matters for
    sums of products in kernels that nobody here has, and who calls BLAS from a kernel makes
    numba look again.
    """
    with _without_imports(_BLAS):
        import numba.np.arraymath  # noqa: F401
    target_context.refresh()


PACKAGE = Path(__file__).resolve().parents[1]
#: Packages that have no kernels and that none which has imports.
_ABOVE_KERNELS = ("evaluate", "resampling", "report", "front", "cli")
_STALE_SECONDS = 30 * 24 * 3600
_MOST_OTHERS = 8  # digests kept besides the current one


def cache_root():
    """Folder that everything cached lives in: ``$SHORTLIST_CACHE`` or the user's own."""
    chosen = os.environ.get("SHORTLIST_CACHE")
    if chosen:
        return Path(chosen)
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "shortlist"


@cache
def source_digest():
    """Digest of all Python files that kernels may depend on: names and contents."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).parts[0] in _ABOVE_KERNELS:
            continue
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0")
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@cache
def cache_dir():
    """Folder of the compiled kernels that belong to the sources as they are now."""
    folder = cache_root() / "kernels" / source_digest()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)  # "last used", which pruning looks at
        _prune(folder)
    except OSError:  # a read-only home: kernels are then compiled in each process
        pass
    return folder


def _prune(current):
    """Remove folders of other digests that nobody has used lately, or for a month."""
    horizon = time.time() - _STALE_SECONDS
    others = [folder for folder in current.parent.iterdir() if folder != current]
    others.sort(key=lambda folder: folder.stat().st_mtime, reverse=True)
    for place, folder in enumerate(others):
        if place >= _MOST_OTHERS or folder.stat().st_mtime < horizon:
            shutil.rmtree(folder, ignore_errors=True)


def cache_info():
    """Path, number of files and bytes of the compiled kernels, current and older."""
    root = cache_root() / "kernels"
    folders = sorted(root.iterdir()) if root.is_dir() else []
    sizes = {
        f: [p.stat().st_size for p in f.rglob("*") if p.is_file()] for f in folders
    }
    current = sizes.pop(cache_dir(), [])
    return {
        "folder": str(cache_dir()),
        "files": len(current),
        "bytes": sum(current),
        "older_folders": len(sizes),
        "older_bytes": sum(map(sum, sizes.values())),
    }


def clear_cache():
    """Delete every compiled kernel, of this and of other versions."""
    shutil.rmtree(cache_root() / "kernels", ignore_errors=True)


class _DigestLocator(_CacheLocator):
    """Where a kernel's compiled form lives: the folder named by the digest."""

    def __init__(self, py_func, py_file):
        self._line = py_func.__code__.co_firstlineno
        relative = Path(py_file).resolve().relative_to(PACKAGE)
        self._folder = cache_dir() / relative.with_suffix("")

    def get_cache_path(self):
        return str(self._folder)

    def get_source_stamp(self):
        return source_digest()

    def get_disambiguator(self):
        return str(self._line)

    @classmethod
    def from_function(cls, py_func, py_file):
        return cls(py_func, py_file)


class _LinkedLater(JITCodeLibrary):
    """A compiled kernel that was read: its object code now, its bitcode when needed.

    The bitcode is for kernels that call this one and are compiled here. Reading it takes
    longer than all else about a kernel.
    """

    _bitcode = b""
    _linkable = None

    @classmethod
    def _unserialize(cls, codegen, state):
        name, kind, data = state
        if kind != "object":
            return super()._unserialize(codegen, state)
        library = codegen.create_library(name)
        objects, library._bitcode = data
        library.enable_object_caching()
        library._set_compiled_object(objects)
        library._finalize_final_module()
        return library

    def get_pointer_to_function(self, name):
        if not self._bitcode:
            return super().get_pointer_to_function(name)
        # numba would look the name up in the bitcode first
        return self._codegen._engine.get_function_address(name)

    @property
    def _shared_module(self):
        if self._linkable is None and self._bitcode:
            self._linkable = llvm.parse_bitcode(self._bitcode)
            self._codegen._engine._load_defined_symbols(self._linkable)
        return self._linkable

    @_shared_module.setter
    def _shared_module(self, module):
        self._linkable = module


class _DigestCacheImpl(CompileResultCacheImpl):
    _locator_classes = (_DigestLocator,)

    def reduce(self, data):
        """Leave out environments that hold no constants: nobody looks into them.

        To read one imports its module, and some of numba's take long.
        """
        *others, environments = super().reduce(data)
        return (*others, tuple(one for one in environments if one.consts))

    def rebuild(self, target_context, payload):
        codegen = target_context.codegen()
        usual, codegen._library_class = codegen._library_class, _LinkedLater
        try:
            return super().rebuild(target_context, payload)
        finally:  # kernels of others are read as ever
            codegen._library_class = usual


class _PackageCache(FunctionCache):
    """Numba's function cache, less the signatures that name classes of others."""

    _impl_class = _DigestCacheImpl

    def load_overload(self, sig, target_context):
        found = None
        if _all_ours(sig):
            rtsys.initialize(target_context)
            # where there is nowhere to read from, it is compiled here instead
            with suppress(OSError), self._guard_against_spurious_io_errors():
                found = self._load_overload(sig, target_context)
        if found is None:
            _prepare_to_compile(target_context)
        return found

    def save_overload(self, sig, data):
        if _all_ours(sig):
            try:
                super().save_overload(sig, data)
            except OSError:  # nowhere to write: this process keeps its own copy
                self.disable()


class _CacheOnDemand:
    """The cache of a kernel, looked up when it is asked for: few are in any one run."""

    def __init__(self, func):
        self._func = func

    def __getattr__(self, name):
        if name == "_found":
            self._found = _PackageCache(self._func)
            return self._found
        return getattr(self._found, name)


def _all_ours(sig):
    return all(map(_is_ours, getattr(sig, "args", sig)))


def _is_ours(kind):
    """Whether a numba type is built of numba's and our own classes only."""
    owner = getattr(kind, "instance_class", None)
    if owner is not None and owner.__module__.partition(".")[0] != PACKAGE.name:
        return False
    return all(map(_is_ours, getattr(kind, "types", ())))


def kernel(func=None, **options):
    """Compile a function of arrays and NamedTuples; keep the result on disk.

    The GIL is released, division follows NumPy, nothing is compiled before the first
    call. ``options`` are those of ``numba.njit``.
    """
    if func is None:
        return partial(kernel, **options)
    # Without a wrapper for C callbacks, which nobody calls: it costs compile time.
    ours = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    compiled = njit(**(ours | options))(func)
    compiled._cache = _CacheOnDemand(func)
    return compiled


def uncounted(func):
    """Compile a function that makes no arrays, without counting references to any.

    Taking an array out of a NamedTuple counts one up and down again, which in a function
    that is called for each example can take longer than what it is there for.
    """
    return kernel(func, _nrt=False)


def counted(func):
    """Compile a function that makes arrays, also where one that does not calls it."""
    return kernel(func, _nrt=True)


class _AnnounceCompiling(event.Listener):
    """Says once, on stderr, why the first run takes longer."""

    def __init__(self):
        self.count = 0

    def on_start(self, event):
        if event.data["dispatcher"].py_func.__module__.startswith(PACKAGE.name + "."):
            if self.count == 0 and os.environ.get("SHORTLIST_QUIET", "0") == "0":
                print("shortlist: compiling kernels, first run only", file=sys.stderr)
            self.count += 1

    def on_end(self, event):
        """Nothing to say: the result follows by itself."""


announcer = _AnnounceCompiling()
event.register("numba:compile", announcer)


def compiled_here():
    """How many kernels this process has compiled itself, not read from the cache."""
    return announcer.count
