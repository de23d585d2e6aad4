"""A kernel and all that it calls are optimised once, together: docs/decisions/0012-first-use.md.

Numba optimises every function by itself, with all that it calls, and makes machine code of it;
then all over again in each of its callers. Here a function that only kernels call stays as it was
lowered, and the kernel that is called from Python takes in each of them once. What is computed is
the same: the optimiser may not reorder or fuse operations on floats either way.

Imported by `numba_private` alone, which does without where a version of Numba lacks something.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import llvmlite.binding as llvm
from numba import _dynfunc, njit  # type: ignore[attr-defined]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class UnoptimisedLibrary(JITCodeLibrary):
    """The code of one function as it was lowered; what it calls stays in libraries of its own."""

    attribute = ""  # "alwaysinline" or "noinline", where LLVM is not to choose
    environment = ""  # the name of the pointer to Python objects that Numba lets it refer to

    def add_llvm_module(self, ll_module: Any) -> None:
        self._final_module.link_in(ll_module)

    def finalize(self) -> None:
        self._raise_if_finalized()
        for function in self._final_module.functions:
            if not function.is_declaration:
                function.linkage = "linkonce_odr"
                if self.attribute:
                    function.add_function_attribute(self.attribute)
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        """For a library of Numba's own kind, such as that of a user's policy.

        A copy of this function in there is called by another such library, if this process has no
        other; and the user's policy may be deleted. So make machine code that stays, as Numba does.
        """
        if self._shared_module is None:
            self._lasting = JITCodeLibrary(self._codegen, self.name)
            module = self._lasting._final_module = self._final_module.clone()
            for function in module.functions:
                if not function.is_declaration:
                    function.linkage = "external"
            _take_in(self._linking_libraries, module)
            self._lasting.finalize()
            self._shared_module = self._lasting._get_module_for_linking()
        return self._shared_module


class KernelLibrary(JITCodeLibrary):
    """A kernel with all that it calls, directly or not."""

    def finalize(self) -> None:
        self._linking_libraries = _take_in(self._linking_libraries, self._final_module)
        for library in self._linking_libraries:
            self._reload_init.update(library._reload_init)
        optimise, builder = self._codegen._module_pass_manager()
        optimise.run(self._final_module, builder)
        self._final_module.verify()
        self._finalize_final_module()


def _take_in(libraries: Iterable[Any], module: Any) -> list[Any]:
    """Link what these libraries and all that they call define into a module, for it alone.

    What nobody else can call is inlined where it is called once, and dropped where it was inlined.
    `private` and not `internal`, which leaves its name in the object: LLVM changes how such a
    function takes its arguments, and its linker would let others of that name call it.
    """
    called = _called_by(libraries)
    for library in called:
        module.link_in(_own_module(library), preserve=True)
    for function in module.functions:
        if function.linkage == llvm.Linkage.linkonce_odr and not function.is_declaration:
            function.linkage = "private"
    for library in called:
        if isinstance(library, UnoptimisedLibrary):
            module.get_global_variable(library.environment).linkage = "private"
    return called


def _own_module(library: Any) -> Any:
    if isinstance(library, UnoptimisedLibrary):
        return library._final_module
    return library._get_module_for_linking()


def _called_by(libraries: Iterable[Any]) -> list[Any]:
    """These libraries and those that they call, each once."""
    found: dict[Any, None] = {}
    left = list(libraries)
    while left:
        library = left.pop(0)
        if library not in found:
            library._ensure_finalized()
            found[library] = None
            if isinstance(library, UnoptimisedLibrary):
                left += library._linking_libraries
    return list(found)


@register_pass(mutates_CFG=True, analysis_only=False)
class InnerLowering(NativeLowering):
    """Lower a function without optimising it or making machine code."""

    _name = "inner_lowering"
    attribute = ""

    def run_pass(self, state: Any) -> bool:
        state.library = UnoptimisedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.attribute = self.attribute
        state.flags.no_compile = True
        super().run_pass(state)
        lowered, library = state.cr, state.library
        description = lowered.fndesc
        library.environment = state.targetctx.get_env_name(description)
        # Numba finds the code to call by this key. It cannot be called from Python itself.
        name = description.qualname.split(".")[-1]
        key = _dynfunc.make_function(
            description.lookup_module(), name, "for kernels only", 0, lowered.env, (library,)
        )
        state.targetctx.insert_user_function(key, description, [library])
        state.reload_init.extend(library._reload_init)
        state.cr = lowered._replace(cfunc=key)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class OutlinedLowering(InnerLowering):
    """The same for a function that callers must not take in."""

    _name = "outlined_lowering"
    attribute = "noinline"


@register_pass(mutates_CFG=True, analysis_only=False)
class InlinedLowering(InnerLowering):
    """The same for a function that callers always take in.

    Not Numba's `forceinline`: all that such a function calls inherits it, and is compiled twice,
    with it and without.
    """

    _name = "inlined_lowering"
    attribute = "alwaysinline"


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(NativeLowering):
    """Lower a kernel and make machine code of it and all that it calls."""

    _name = "kernel_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        state.flags.no_cpython_wrapper = False
        return bool(super().run_pass(state))


# Passes that change nothing in this package's kernels: they have no closures, `with` blocks, array
# expressions, `literal_unroll` or arguments that may be None.
_IDLE = {
    "dead_branch_prune",
    "dump_parfor_diagnostics",
    "find_literally",
    "inline_closure_likes",
    "inline_inlinables",
    "inline_overloads",
    "literal_unroll",
    "LiteralPropagation",
    "make_function_op_code_to_jit_function",
    "nopython_rewrites",
    "rewrite_semantic_constants",
    "with_lifting",
}


class _Compiler(CompilerBase):
    lowering: Any
    lowers_all = False  # a user's code, too

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        if works():
            ours = self.state.func_id.modname.startswith("unimodal.")
            lowering = self.lowering if ours or self.lowers_all else NativeLowering
            passes.passes = [
                (lowering if each is NativeLowering else each, description)
                for each, description in passes.passes
                if not (ours and each._name in _IDLE)
            ]
            passes.finalize()
        return [passes]


class Inner(_Compiler):
    """How a function of this package is compiled that only kernels call.

    A user's is compiled as Numba does it: it may use all that Numba knows.
    """

    lowering = InnerLowering


class Outlined(_Compiler):
    """The same for a function that is seldom called, so that hot loops around it stay small."""

    lowering = OutlinedLowering


class Inlined(_Compiler):
    """The same for a function of hot loops, which have a copy of it wherever they call it."""

    lowering = InlinedLowering


class Kernel(_Compiler):
    """How a kernel is compiled that is called from Python."""

    lowering = KernelLowering
    lowers_all = True

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals):
        if works():
            # What it calls is compiled for callers without an entry from Python. Numba keeps
            # versions for callers with other options apart, so all would be compiled twice.
            flags.no_cpython_wrapper = True
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)


_trying = False


def works() -> bool:
    """Whether this version of Numba compiles in these ways; else it does in its own."""
    return _trying or _tried()


@functools.cache
def _tried() -> bool:
    global _trying
    _trying = True
    try:
        inner: Any = {"pipeline_class": Inner, "no_cpython_wrapper": True}
        half = njit(**inner)(lambda x: 0.5 * x)
        kernel = njit(pipeline_class=Kernel)(lambda x: half(x) + half(1.0))
        return bool(kernel(3.0) == 2.0)
    except Exception:  # whatever a version of Numba that nobody knows yet may raise
        return False
    finally:
        _trying = False
