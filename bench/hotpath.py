"""hotpath.py - the allocator in a loop: what the allocator itself costs, the hook that is off, the countdown, and the samples."""
import rig

MEASURED = 61  # batches in each process, after 5 of warm-up
SLOW_BATCHES = 5  # of a tenth of the operations

# kind, size, operations in a batch, what to call it. The first is the published protocol for this kind of profiler.
LOOPS = [("keep", 16, 250000, "250,000 x 16 B kept")]
LOOPS += [("pair", size, 20000 if size < 16384 else 4000, f"malloc + free, {size} B") for size in (16, 64, 200, 1024, 4096, 16384, 65536)]
LOOPS += [("ring", 64, 20000, "ring of 64 objects, 64 B"), ("calloc", 64, 20000, "calloc + free, 64 B"),
          ("grow", 4096, 9000, "realloc, 16 B to 4 KiB"), ("new", 64, 20000, "new + delete, 64 B"),
          ("new-sized", 64, 20000, "new + sized delete, 64 B"), ("cross", 64, 50000, "freed by another thread, 64 B")]

JEMALLOC_PROF = "jemalloc prof"


def measure(row, kind, size, operations):
    if row.slow():
        return rig.figure(row, [rig.BUILD / "bench/hotpath", kind, size, operations // 10, SLOW_BATCHES])
    return rig.figure(row, [rig.BUILD / "bench/hotpath", kind, size, operations, MEASURED])


def named(results, name):
    return results.get(name, [None])


def costs(loops):
    """What each step adds, in ns: medians of the paired differences."""
    steps = [rig.BASE, "mprof rate 0", rig.NO_SAMPLES.name, rig.DEFAULT, "mprof rate 1"]
    rows = []
    for title, results in loops:
        if any(step not in results for step in steps):
            continue
        base, off, countdown, on, all_sampled = (results[step] for step in steps)
        rows.append([title, f"{rig.median(base):.2f}", rig.difference(off, base), rig.difference(countdown, off),
                     rig.difference(on, countdown), rig.difference(all_sampled, countdown, 0)])
    return rig.table(["loop", "the allocator", "the hook, off", "the countdown", "the samples at 512K", "a sample, at rate 1"], rows)


def bars(results_of):
    def row(what, loop, over, under, bar):
        paired = rig.ratio(named(results_of[loop], over), named(results_of[loop], under))
        return [what, paired, bar]

    return rig.table(["bar", "measured", "wanted"], [
        row("16 B pair, 512K / jemalloc", LOOPS[1][3], rig.DEFAULT, rig.BASE, "<= 1.20, aim 1.10"),
        row("16 B pair, rate 0 / jemalloc", LOOPS[1][3], "mprof rate 0", rig.BASE, "<= 1.12"),
        row("4096 B pair (starts a page): countdown and filter / rate 0", LOOPS[5][3], rig.NO_SAMPLES.name, "mprof rate 0", "<= 1.10"),
        row("16384 B pair, likewise", LOOPS[6][3], rig.NO_SAMPLES.name, "mprof rate 0", "<= 1.10"),
        row("200 B pair, 512K / jemalloc's own profiler", LOOPS[3][3], rig.DEFAULT, JEMALLOC_PROF, "<= 0.80"),
        row("250,000 x 16 B kept, 512K / rate 0", LOOPS[0][3], rig.DEFAULT, "mprof rate 0", "<= 1.03"),
    ])


def report():
    rows = rig.contenders()
    rows.insert(-3, rig.NO_SAMPLES)
    loops = []
    for kind, size, operations, title in LOOPS:
        loops.append((title, rig.rotate(rows, lambda row: measure(row, kind, size, operations))))
        rig.progress(f"hotpath: {title}")
    head = ["ns per operation, median of medians"] + [row.name for row in rows]
    absolute = rig.table(head, [[title] + [f"{rig.median(results[row.name]):.2f}" for row in rows] for title, results in loops])
    relative = rig.table(["ratio to jemalloc, paired by round (quartiles)"] + head[1:],
                         [[title] + [rig.ratio(results[row.name], results[rig.BASE], 2) for row in rows] for title, results in loops])
    return "\n".join(["## hotpath", "", absolute, relative, "What each step adds, in ns per operation:", "", costs(loops),
                      bars(dict(loops))])


if __name__ == "__main__":
    print(report())
