"""The system calls that nothing in a cell may make, as a seccomp program that we assemble.

Two answers. Calls without any honest use end the program, so that it can be told: its status is
`denied_syscall`. Calls that ordinary programs try and can do without get an error number.
"""

from __future__ import annotations

import ctypes
import errno
import struct

from omni.sandbox.cell.kernel import MACHINE, PR_SET_SECCOMP, SetupFailed, prctl

ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# x86-64 lets programs speak a second dialect, whose numbers start here.
X32 = 0x40000000

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
LOAD, EQUAL, ANY_BIT, AT_LEAST, RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
NUMBER, ARCH, ARGUMENTS = 0, 4, 16
FILTER_MODE = 2

# Names with their numbers on x86-64 and arm64.
KILLED: dict[str, tuple[int, int]] = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "kcmp": (312, 272), "pidfd_getfd": (438, 438), "process_madvise": (440, 440),
    "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "move_mount": (429, 429), "open_tree": (428, 428), "open_tree_attr": (467, 467),
    "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "bpf": (321, 280), "perf_event_open": (298, 241),
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "reboot": (169, 142),
    "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60),
    "quotactl_fd": (443, 443), "open_by_handle_at": (304, 265), "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "sethostname": (170, 161), "setdomainname": (171, 162), "vhangup": (153, 58),
    "lookup_dcookie": (212, 18), "nfsservctl": (180, 42),
}  # fmt: skip
KILLED_ON_X86 = {
    "iopl": 172, "ioperm": 173, "modify_ldt": 154, "uselib": 134, "sysfs": 139, "_sysctl": 156,
    "create_module": 174, "get_kernel_syms": 177, "query_module": 178, "vserver": 236,
    "ustat": 136,
}  # fmt: skip

# The C library looks at the error and goes another way; `clone3` hides its flags from us.
REFUSED: dict[str, tuple[int, int, int]] = {
    "unshare": (272, 97, errno.EPERM), "chroot": (161, 51, errno.EPERM),
    "clone3": (435, 435, errno.ENOSYS), "userfaultfd": (323, 282, errno.EPERM),
    "io_uring_setup": (425, 425, errno.ENOSYS), "io_uring_enter": (426, 426, errno.ENOSYS),
    "io_uring_register": (427, 427, errno.ENOSYS), "name_to_handle_at": (303, 264, errno.EPERM),
    "syslog": (103, 116, errno.EPERM), "adjtimex": (159, 171, errno.EPERM),
    "clock_adjtime": (305, 266, errno.EPERM), "mbind": (237, 235, errno.EPERM),
    "set_mempolicy": (238, 237, errno.EPERM), "migrate_pages": (256, 238, errno.EPERM),
    "move_pages": (279, 239, errno.EPERM), "set_mempolicy_home_node": (450, 450, errno.EPERM),
    # Memory that no process has mapped is memory that the watchdog does not see.
    "memfd_create": (319, 279, errno.ENOSYS), "memfd_secret": (447, 447, errno.ENOSYS),
    "shmget": (29, 194, errno.EPERM), "msgget": (68, 186, errno.EPERM),
    "semget": (64, 190, errno.EPERM),
}  # fmt: skip

CLONE, SOCKET, SOCKETPAIR = (56, 220), (41, 198), (53, 199)
IOCTL, PRLIMIT, PERSONALITY = (16, 29), (302, 261), (135, 92)
NEW_NAMESPACES = 0x7E020000
AF_UNIX, AF_INET, AF_INET6 = 1, 2, 10
# Typing into somebody's terminal.
TERMINAL_INPUT = (0x5412, 0x541C)


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)


def _argument(number: int) -> bytes:
    """The lower half; both machines put it first, and the kernel reads no more of these."""
    return _step(LOAD, ARGUMENTS + 8 * number)


def _when(number: int, steps: list[bytes]) -> list[bytes]:
    """These steps for one system call; they must end with an answer."""
    return [_step(EQUAL, number, 0, len(steps)), *steps]


def _answer(number: int, answer: int) -> list[bytes]:
    return _when(number, [_step(RETURN, answer)])


def _only(argument: int, values: tuple[int, ...], code: int) -> list[bytes]:
    """Allowed with one of the values, else the error."""
    tests = [_step(EQUAL, value, len(values) - at, 0) for at, value in enumerate(values)]
    return [_argument(argument), *tests, _step(RETURN, ERRNO | code), _step(RETURN, ALLOW)]


def program(machine: str = MACHINE) -> bytes:
    """The whole filter for a machine."""
    if machine not in ARCHITECTURE:
        raise SetupFailed(f"seccomp: no list of system calls for {machine}")
    column = 0 if machine == "x86_64" else 1
    steps = [_step(LOAD, ARCH), _step(EQUAL, ARCHITECTURE[machine], 1, 0), _step(RETURN, KILL)]
    steps.append(_step(LOAD, NUMBER))
    if machine == "x86_64":
        steps += [_step(AT_LEAST, X32, 0, 1), _step(RETURN, KILL)]
        for number in KILLED_ON_X86.values():
            steps += _answer(number, KILL)
    for pair in KILLED.values():
        steps += _answer(pair[column], KILL)
    for x86, arm, code in REFUSED.values():
        steps += _answer((x86, arm)[column], ERRNO | code)
    return b"".join([*steps, *_by_argument(column), _step(RETURN, ALLOW)])


def _by_argument(column: int) -> list[bytes]:
    """Calls that are fine with some arguments."""
    spaces = [
        _argument(0), _step(ANY_BIT, NEW_NAMESPACES, 0, 1), _step(RETURN, ERRNO | errno.EPERM),
        _step(RETURN, ALLOW),
    ]  # fmt: skip
    terminal = [
        _argument(1), _step(EQUAL, TERMINAL_INPUT[0], 1, 0), _step(EQUAL, TERMINAL_INPUT[1], 0, 1),
        _step(RETURN, ERRNO | errno.EPERM), _step(RETURN, ALLOW),
    ]  # fmt: skip
    families = (AF_UNIX, AF_INET, AF_INET6)
    return [
        *_when(CLONE[column], spaces),
        *_when(SOCKET[column], _only(0, families, errno.EAFNOSUPPORT)),
        *_when(SOCKETPAIR[column], _only(0, (AF_UNIX,), errno.EAFNOSUPPORT)),
        *_when(IOCTL[column], terminal),
        *_when(PRLIMIT[column], _only(0, (0,), errno.EPERM)),
        *_when(PERSONALITY[column], _only(0, (0, 0xFFFFFFFF), errno.EPERM)),
    ]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]


def install() -> None:
    """For this process and all its descendants, for ever; needs no_new_privs."""
    steps = program()
    loaded = _Program(len(steps) // 8, steps)
    prctl("seccomp", PR_SET_SECCOMP, FILTER_MODE, ctypes.byref(loaded))
