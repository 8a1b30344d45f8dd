"""Hostile programs. Each says "escaped" when it got what it wanted, "contained" when it did not."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from omni.sandbox.conversation import Opener
from omni.sandbox.job import Job, Limits, run_in

MB = 1 << 20
# Generous: only programs about time are short of it, and the machine may be busy.
PATIENT: dict[str, Any] = {"wall_seconds": 90.0, "cpu_seconds": 60.0}

PRELUDE = """
import ctypes, errno, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
arm = os.uname().machine == "aarch64"
def call(x86, on_arm, *arguments):
    ctypes.set_errno(0)
    wide = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return libc.syscall(ctypes.c_long(on_arm if arm else x86), *wide)
def verdict(escaped, what=""):
    print("escaped" if escaped else "contained", what, flush=True)
"""


@dataclass(frozen=True)
class Program:
    """`status` is how it must end; a refusal of the sandbox itself never counts."""

    name: str
    code: str
    status: str | tuple[str, ...] = "ok"
    says: str = "contained"
    limits: dict[str, Any] = field(default_factory=dict)

    def job(self, env: dict[str, str]) -> Job:
        limits = Limits(**{**PATIENT, **self.limits})
        source = (PRELUDE + self.code).encode()
        command = ("python3", "-I", "-S", "main.py")
        return Job(command, files={"main.py": source}, env=env, limits=limits)


@dataclass(frozen=True)
class Outcome:
    """What was seen from outside."""

    status: str
    stdout: str
    stderr: str

    def contained(self, program: Program) -> bool:
        wanted = (program.status,) if isinstance(program.status, str) else program.status
        return (
            self.status in wanted
            and "escaped" not in self.stdout
            and (program.says in self.stdout or "ok" not in wanted)
        )


def run_program(opener: Opener, program: Program, env: dict[str, str]) -> Outcome:
    result = run_in(opener, program.job(env))
    text = (result.stdout[:2000].decode(errors="replace"), result.stderr[-2000:].decode("latin-1"))
    return Outcome(result.status, *text)


def run_programs(opener: Opener, env: dict[str, str]) -> dict[str, Outcome]:
    """All of them, some at a time."""
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda program: run_program(opener, program, env), PROGRAMS)
        return {program.name: outcome for program, outcome in zip(PROGRAMS, found, strict=True)}


def killed(name: str, x86: int, on_arm: int, arguments: str = "0, 0, 0, 0, 0") -> Program:
    """A system call without any honest use ends the program, so that it can be told."""
    code = f"print('trying', flush=True)\nverdict(call({x86}, {on_arm}, {arguments}) >= 0)"
    return Program(f"kernel: {name}", code, status="denied_syscall")


def errno_of(name: str, x86: int, on_arm: int, arguments: str) -> Program:
    """A system call that honest programs try; its filter answers with an error."""
    code = f"""
done = call({x86}, {on_arm}, {arguments})
refused = done < 0 and ctypes.get_errno() in (errno.EPERM, errno.ENOSYS)
verdict(not refused, ctypes.get_errno())
"""
    return Program(f"kernel: {name}", code)


FILES = [
    Program(
        "files: of the machine",
        """
seen = []
tops = ["/proc/1/root", "/proc/self/root", "/proc/1/cwd/.."]
for path in (os.environ["HOST_FILE"], "/etc/shadow", "/etc/hostname",
             *(top + "/etc/hostname" for top in tops), "/proc/sys/kernel",
             "/proc/kcore", "/proc/cpuinfo", "/sys/kernel", "/home", "/var", "/boot", "/mnt",
             "/run", "/old_root"):
    try:
        os.stat(path)
        if not sys.base_prefix.startswith(path + "/"):
            seen.append(path)
    except OSError:
        pass
seen += [line for line in open("/etc/passwd") if line.startswith("root")]
verdict(seen, seen)
""",
    ),
    Program(
        "files: writing to the system",
        """
written = []
library = os.path.dirname(os.__file__)
for place in ("/", "/usr", "/usr/bin", "/etc", "/bin", "/lib", "/dev", "/proc", library):
    try:
        open(os.path.join(place, "planted"), "w").close()
        written.append(place)
    except OSError:
        pass
for path in ("/etc/passwd", os.__file__, "/usr/bin/env"):
    try:
        open(path, "r+b").close()
        written.append(path)
    except OSError:
        pass
verdict(written, written)
""",
    ),
    Program(
        "files: a device of one's own",
        """
try:
    os.mknod("disk", 0o60600, os.makedev(8, 0))
    verdict(True)
except OSError:
    verdict(False)
""",
    ),
    Program(
        "files: rights of another user",
        """
import stat
open("mine", "w").close()
escaped = []
for number in (0, 65534):
    try:
        os.setuid(number)
        escaped.append(number)
    except OSError:
        pass
try:
    os.chown("mine", 0, 0)
    escaped.append("chown")
except OSError:
    pass
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
sets = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
rights = [name for name in sets if int(status[name], 16)]
verdict(escaped or rights or int(status["NoNewPrivs"]) != 1, (escaped, rights))
""",
    ),
    Program(
        "environment: of the platform",
        """
found = [name for name in os.environ if name.startswith("HOST_CANARY")]
for number in (1, os.getpid(), os.getppid()):
    try:
        if b"HOST_CANARY" in open(f"/proc/{number}/environ", "rb").read():
            found.append(number)
    except OSError:
        pass
verdict(found, found)
""",
    ),
    Program(
        "descriptors: inherited",
        """
found = []
for number in range(3, 1024):
    try:
        os.fstat(number)
        found.append((number, os.readlink(f"/proc/self/fd/{number}")))
    except OSError:
        pass
verdict(found, found)
""",
    ),
]

NETWORK = [
    Program(
        "network: the machine's own ports",
        """
reached = []
for address in ("127.0.0.1", "localhost"):
    try:
        socket.create_connection((address, int(os.environ["HOST_PORT"])), timeout=5).close()
        reached.append(address)
    except OSError:
        pass
verdict(reached, reached)
""",
    ),
    Program(
        "network: TCP and UDP",
        """
reached = []
for kind, address in ((socket.SOCK_STREAM, "192.0.2.1"), (socket.SOCK_DGRAM, "192.0.2.1"),
                      (socket.SOCK_DGRAM, "169.254.169.254")):
    try:
        with socket.socket(socket.AF_INET, kind) as door:
            door.settimeout(5)
            door.connect((address, 53))
            door.send(b"hello")
        reached.append((kind, address))
    except OSError:
        pass
verdict(reached, reached)
""",
    ),
    Program(
        "network: names",
        """
try:
    verdict(socket.getaddrinfo("example.org", 80))
except OSError:
    verdict(False)
""",
    ),
    Program(
        "network: abstract sockets",
        """
with socket.socket(socket.AF_UNIX) as door:
    try:
        door.connect("\\0" + os.environ["HOST_ABSTRACT"])
        verdict(True)
    except OSError:
        verdict(False)
""",
    ),
    Program(
        "network: sockets with a path",
        """
with socket.socket(socket.AF_UNIX) as door:
    try:
        door.connect(os.environ["HOST_SOCKET"])
        verdict(True)
    except OSError:
        verdict(False)
""",
    ),
    Program(
        "network: other families",
        """
made = []
for family, kind in ((40, 1), (16, 3), (17, 3), (38, 5), (31, 3), (21, 5), (2, 3)):
    try:
        socket.socket(family, kind).close()
        made.append(family)
    except OSError:
        pass
verdict(made, made)
""",
    ),
]

PROCESSES = [
    Program(
        "processes: fork bomb",
        """
while True:
    try:
        if os.fork() == 0:
            continue
    except OSError:
        pass
""",
        status="process_limit",
        limits={"processes": 12},
    ),
    Program(
        "processes: thread bomb",
        """
import threading, time
for _ in range(200):
    try:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    except RuntimeError:
        time.sleep(0.1)
time.sleep(60)
""",
        status="process_limit",
        limits={"processes": 12},
    ),
    Program(
        "processes: a daemon that stays",
        """
import time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (0, 1, 2):
            os.close(number)
        time.sleep(3600)
    os._exit(0)
os.wait()
verdict(False)
""",
    ),
    Program(
        "processes: killing the supervisor",
        """
import signal
for number in (1, -1):
    for which in (signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP):
        try:
            os.kill(number, which)
        except OSError:
            pass
import resource
try:
    resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0))
    verdict(True)
except OSError:
    verdict(False)
""",
    ),
    Program(
        "processes: looking into the supervisor",
        """
found = []
for name in ("environ", "mem", "maps", "fd/0", "root", "cwd"):
    try:
        open(f"/proc/1/{name}", "rb").read(1)
        found.append(name)
    except OSError:
        pass
try:
    os.listdir("/proc/1/fd")
    found.append("fd")
except OSError:
    pass
verdict(found, found)
""",
    ),
    Program(
        "processes: of the machine",
        """
numbers = {int(name) for name in os.listdir("/proc") if name.isdigit()}
others = numbers - {1, os.getpid()}
verdict(others or os.getppid() != 1, others)
""",
    ),
    killed("ptrace", 101, 117, "16, 1, 0, 0"),
    killed("process_vm_readv", 310, 270, "1, 0, 0, 0, 0, 0"),
    killed("process_vm_writev", 311, 271, "1, 0, 0, 0, 0, 0"),
    killed("pidfd_getfd", 438, 438, "0, 0, 0"),
]

KERNEL = [
    *(errno_of(f"unshare {name}", 272, 97, str(flag)) for name, flag in (
        ("user", 0x10000000), ("mount", 0x20000), ("net", 0x40000000), ("pid", 0x20000000))),
    errno_of("clone into namespaces", 56, 220, "0x10000011, 0, 0, 0, 0"),
    errno_of("clone3", 435, 435, "0, 0"),
    errno_of("io_uring", 425, 425, "8, ctypes.create_string_buffer(120)"),
    errno_of("userfaultfd", 323, 282, "1"),
    errno_of("memfd_create", 319, 279, "b'x', 0"),
    errno_of("shmget", 29, 194, "0, 4096, 0o1600"),
    errno_of("chroot", 161, 51, "b'/tmp'"),
    killed("mount", 165, 40, "b'none', b'/tmp', b'tmpfs', 0, 0"),
    killed("umount2", 166, 39, "b'/proc', 2"),
    killed("pivot_root", 155, 41, "b'.', b'.'"),
    killed("open_tree", 428, 428, "-100, b'/', 1"),
    killed("fsopen", 430, 430, "b'tmpfs', 0"),
    killed("bpf", 321, 280, "0, ctypes.create_string_buffer(128), 128"),
    killed("keyctl", 250, 219, "0, -3, 1"),
    killed("add_key", 248, 217, "b'user', b'x', b'y', 1, -3"),
    killed("perf_event_open", 298, 241, "ctypes.create_string_buffer(128), 0, -1, -1, 0"),
    killed("setns", 308, 268, "0, 0"),
    killed("open_by_handle_at", 304, 265, "-100, ctypes.create_string_buffer(16), 0"),
    killed("kexec_load", 246, 104),
    killed("init_module", 175, 105),
    killed("sethostname", 170, 161, "b'x', 1"),
]  # fmt: skip

X86 = [
    Program(
        "kernel: the x32 dialect",
        """
print(libc.syscall(ctypes.c_long(0x40000000 + 39)), flush=True)
verdict(True)
""",
        status="denied_syscall",
    ),
    Program(
        "kernel: the 32-bit dialect",
        """
import mmap
code = b"\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3"
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(code)
start = ctypes.addressof(ctypes.c_char.from_buffer(page))
got = ctypes.CFUNCTYPE(ctypes.c_int)(start)()
verdict(got == os.getpid())
""",
        status=("denied_syscall", "signal"),
    ),
]

RESOURCES = [
    Program("resources: memory", """
kept = []
while True:
    kept.append(bytearray(b"x" * (4 << 20)))
""", status="memory_limit", limits={"memory_bytes": 96 * MB}),
    Program("resources: memory of many processes", """
import time
for _ in range(8):
    if os.fork() == 0:
        kept = bytearray(b"x" * (24 << 20))
        time.sleep(60)
time.sleep(60)
""", status="memory_limit", limits={"memory_bytes": 96 * MB}),
    Program("resources: more memory than there is", """
kept = bytearray(1 << 40)
""", status="memory_limit"),
    Program("resources: disk", """
for number in range(100):
    open(f"fill{number}", "wb").write(b"x" * (1 << 20))
""", status="disk_limit", limits={"disk_bytes": 8 * MB}),
    Program("resources: disk of the temporary folder", """
for number in range(100):
    open(f"/tmp/fill{number}", "wb").write(b"x" * (1 << 20))
""", status="disk_limit", limits={"disk_bytes": 8 * MB}),
    Program("resources: number of files", """
for number in range(100000):
    open(f"f{number}", "w").close()
""", status="disk_limit", limits={"inodes": 200}),
    Program("resources: one large file", """
with open("large", "wb") as file:
    for _ in range(100):
        file.write(b"x" * (1 << 20))
""", status="file_limit", limits={"file_bytes": 4 * MB}),
    Program("resources: processor", """
while True:
    pass
""", status="cpu_limit", limits={"cpu_seconds": 0.3}),
    Program("resources: processor of many processes", """
for _ in range(200):
    if os.fork() == 0:
        for _ in range(10 ** 6):
            pass
        os._exit(0)
    os.wait()
""", status="cpu_limit", limits={"cpu_seconds": 0.3}),
    Program("resources: output", """
while True:
    os.write(1, b"x" * 65536)
""", status="output_limit", limits={"output_bytes": 1 * MB}),
    Program("resources: errors", """
while True:
    os.write(2, b"x" * 65536)
""", status="output_limit", limits={"output_bytes": 1 * MB}),
    Program("resources: sleeping", """
import time
time.sleep(3600)
""", status="timeout", limits={"wall_seconds": 0.5}),
    Program("resources: deaf to signals", """
import signal, time
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
time.sleep(3600)
""", status="timeout", limits={"wall_seconds": 0.5}),
]  # fmt: skip

PROGRAMS = [*FILES, *NETWORK, *PROCESSES, *KERNEL, *RESOURCES]
if os.uname().machine == "x86_64":
    PROGRAMS += X86
BY_NAME = {program.name: program for program in PROGRAMS}
