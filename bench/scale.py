"""scale.py - throughput of 1 to 8 threads, with objects of their own and with objects that others free."""
import rig

THREADS = (1, 2, 4, 8)
PATTERNS = {"own": "each thread frees its own objects", "larson": "objects are freed by the next thread"}
MILLISECONDS = 100


def report():
    rows = rig.contenders()
    parts = ["## scale", "", f"Millions of malloc + free per second, all threads together, medians of {MILLISECONDS} ms; "
             "below them the ratio to jemalloc's time per operation, paired by round.", ""]
    for pattern, title in PATTERNS.items():
        absolute, relative = [], []
        for threads in THREADS:
            results = rig.rotate(rows, lambda row: rig.figure(row, [rig.BUILD / "bench/scale", threads, pattern, MILLISECONDS]))
            rig.progress(f"scale: {pattern}, {threads} threads")
            absolute.append([threads] + [f"{rig.median(results[row.name]):.1f}" for row in rows])
            relative.append([threads] + [rig.ratio(results[rig.BASE], results[row.name], 2) for row in rows])
        head = [row.name for row in rows]
        parts += [f"### {title}", "", rig.table(["threads"] + head, absolute), rig.table(["threads"] + head, relative)]
    return "\n".join(parts)


if __name__ == "__main__":
    print(report())
