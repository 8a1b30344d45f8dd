"""The seccomp program itself, run by a small interpreter: what it answers on both machines."""

from __future__ import annotations

import errno
import struct

import pytest

from omni.sandbox.cell import filter as seccomp
from omni.sandbox.cell.kernel import SetupFailed

pytestmark = pytest.mark.req("SBX-1", "SBX-4")

ALLOW, KILL = seccomp.ALLOW, seccomp.KILL
EPERM, ENOSYS = seccomp.ERRNO | errno.EPERM, seccomp.ERRNO | errno.ENOSYS


def answer(machine: str, number: int, *arguments: int, arch: int | None = None) -> int:
    """What the kernel would do with this call."""
    program = seccomp.program(machine)
    arch = seccomp.ARCHITECTURE[machine] if arch is None else arch
    data = struct.pack("<IIQ6Q", number, arch, 0, *arguments, *[0] * (6 - len(arguments)))
    steps = [struct.unpack_from("HBBI", program, at) for at in range(0, len(program), 8)]
    at = accumulator = 0
    while True:
        code, yes, no, value = steps[at]
        at += 1
        if code == seccomp.LOAD:
            accumulator = struct.unpack_from("<I", data, value)[0]
        elif code == seccomp.RETURN:
            return int(value)
        else:
            tests = {
                seccomp.EQUAL: accumulator == value,
                seccomp.ANY_BIT: bool(accumulator & value),
                seccomp.AT_LEAST: accumulator >= value,
            }
            at += yes if tests[code] else no


@pytest.mark.parametrize(("machine", "column"), [("x86_64", 0), ("aarch64", 1)])
def test_every_listed_call_is_answered_as_listed(machine: str, column: int) -> None:
    for row in seccomp.KILLED.values():
        assert answer(machine, row[column]) == KILL
    for x86, arm, code in seccomp.REFUSED.values():
        assert answer(machine, (x86, arm)[column]) == seccomp.ERRNO | code
    ordinary = {"x86_64": (0, 1, 59, 202, 231), "aarch64": (63, 64, 221, 98, 94)}
    assert {answer(machine, number) for number in ordinary[machine]} == {ALLOW}


@pytest.mark.parametrize(("machine", "column"), [("x86_64", 0), ("aarch64", 1)])
def test_arguments_decide(machine: str, column: int) -> None:
    def ask(call: tuple[int, int], *arguments: int) -> int:
        return answer(machine, call[column], *arguments)

    assert ask(seccomp.CLONE, 0x01200011) == ALLOW
    assert ask(seccomp.CLONE, 0x003D0F00) == ALLOW
    for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert ask(seccomp.CLONE, flag | 17) == EPERM
    assert [ask(seccomp.SOCKET, family) for family in (1, 2, 10)] == [ALLOW] * 3
    refused = seccomp.ERRNO | errno.EAFNOSUPPORT
    assert {ask(seccomp.SOCKET, family) for family in (0, 16, 17, 31, 38, 40, 44)} == {refused}
    assert ask(seccomp.SOCKETPAIR, 1) == ALLOW and ask(seccomp.SOCKETPAIR, 2) == refused
    assert ask(seccomp.IOCTL, 0, 0x5412) == ask(seccomp.IOCTL, 0, 0x541C) == EPERM
    assert ask(seccomp.IOCTL, 0, 0x5401) == ALLOW
    assert ask(seccomp.PRLIMIT, 0) == ALLOW and ask(seccomp.PRLIMIT, 1) == EPERM
    assert ask(seccomp.PERSONALITY, 0xFFFFFFFF) == ALLOW
    assert ask(seccomp.PERSONALITY, 0x40000) == EPERM


def test_other_dialects_end_the_program() -> None:
    assert answer("x86_64", 39, arch=0x40000003) == KILL
    assert answer("x86_64", 0x40000000 + 39) == KILL
    assert answer("aarch64", 20, arch=0x40000028) == KILL


def test_a_machine_we_do_not_know_is_refused() -> None:
    with pytest.raises(SetupFailed, match="riscv64"):
        seccomp.program("riscv64")
