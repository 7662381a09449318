"""memory.py - how much memory mprof takes for itself, and how much larger the process is with it, against the live heap."""
import rig

HEAPS_MIB = (64, 256, 1024)
ROUNDS_MAX = 7  # the program does the same each time, so that few rounds tell
CONTENDERS = (rig.BASE, "mprof rate 0", rig.DEFAULT, "mprof 64K")
MIB = 1 << 20
INTRODUCTION = """Objects of 16 to 1023 bytes and some of up to 64 KiB from 2,048 stacks, then as many replaced. Own memory is what the
profiler took from its arena; RSS is of the whole process, with 16 bytes per object of the program's own. Medians; differences are paired
by round."""


def measure(row, heap_mib):
    """{figure: value}; bytes as MiB."""
    lines = (line.split() for line in rig.run(row, [rig.BUILD / "bench/memory", heap_mib]).splitlines())
    return {name.replace("_bytes", "_mib"): int(value) / MIB if name.endswith("_bytes") else int(value) for name, value in lines}


def column(runs, name):
    return [run.get(name) for run in runs]


def figure(runs, name, digits=0):
    """The median, or a dash where a contender has no such figure."""
    values = rig.present(column(runs, name))
    return f"{rig.median(values):,.{digits}f}" if values else "-"


def line(heap_mib, name, runs, base):
    rss, base_rss = column(runs, "rss_mib"), column(base, "rss_mib")
    percent = [[100 * value / heap_mib for value in values] for values in (rss, base_rss)]
    extra = ["-", "-"] if runs is base else [rig.difference(rss, base_rss), rig.difference(*percent)]
    return [f"{heap_mib:,} MiB, {name}", figure(runs, "rss_mib", 1), *extra, figure(runs, "own_mib", 2), figure(runs, "live_samples"),
            figure(runs, "buckets")]


def bars(results_of):
    rows = [[f"own memory at 512K, {heap_mib:,} MiB live", figure(results[rig.DEFAULT], "own_mib", 2), f"<= {8 + heap_mib * 0.02:.1f}"]
            for heap_mib, results in results_of.items()]
    return rig.table(["bar: 8 MiB + 2 % of the live heap", "measured, MiB", "wanted"], rows)


def report():
    rows = rig.contenders(*CONTENDERS)
    results_of = {}
    for heap_mib in HEAPS_MIB:
        results_of[heap_mib] = rig.rotate(rows, lambda row: measure(row, heap_mib), min(rig.ROUNDS, ROUNDS_MAX))
        rig.progress(f"memory: {heap_mib} MiB")
    lines = [line(heap_mib, row.name, results[row.name], results.get(rig.BASE, []))
             for heap_mib, results in results_of.items() for row in rows]
    head = ["live heap, contender", "RSS, MiB", "less jemalloc's, MiB", "% of the live heap", "own memory, MiB", "samples alive", "buckets"]
    return "\n".join(["## memory", "", INTRODUCTION, "", rig.table(head, lines), bars(results_of)])


if __name__ == "__main__":
    print(report())
