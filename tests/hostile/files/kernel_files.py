# attack: writes to what the kernel shows as files: its own score, limits, memory, cgroups, terminals
# verdict: ok
# values[landlock]: [[], [], [], []]
import os


def f(x):
    done = []
    for path in ("/proc/self/oom_score_adj", "/proc/self/mem", "/proc/@PID@/mem", "/proc/@PID@/oom_score_adj", "/proc/self/attr/current",
                 "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/pids/tasks",
                 "/sys/fs/cgroup/memory/tasks", "/dev/tty", "/dev/mem", "/dev/kmsg", "/proc/self/clear_refs"):
        try:
            os.close(os.open(path, os.O_WRONLY))
            done.append(path)
        except OSError:
            pass
    return done
