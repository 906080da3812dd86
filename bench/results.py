"""Prints rows as a table, and keeps them as JSON in bench/results with commit, date and machine."""

import datetime
import json
import os
import platform
import subprocess


def number(value):
    if value is None:
        return "-"
    if abs(value) >= 10_000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def percent(value):
    return "" if value is None else f" ±{value * 100:.0f}%"


def show(rows):
    """The table, one line for each row; the last line says how many bars hold."""
    cells = [("bar", "ours", "peer", "ratio", "bound", "verdict")]
    for row in rows:
        ours = f"{number(row['ours'])} {row['unit']}{percent(row['spread'])}" if row["ours"] is not None else "-"
        peer = ""
        if row["peer"]:
            peer = f"{row['peer']} {number(row['peer_value'])}{percent(row['peer_spread'])}"
        ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f}"
        cells.append((row["name"], ours, peer, ratio, row["bound"], row["verdict"]))
    widths = [max(len(line[at]) for line in cells) for at in range(len(cells[0]))]
    for line in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
    held = sum(row["verdict"] == "holds" for row in rows)
    missed = sum(row["verdict"] == "MISSES" for row in rows)
    print(f"{held} hold, {missed} miss, {len(rows) - held - missed} without a verdict")


def write(rows, folder, settings):
    """Writes a file of its own and `latest.json`; gives the first one's path."""
    folder.mkdir(parents=True, exist_ok=True)
    now = datetime.datetime.now(datetime.timezone.utc)
    content = {
        "date": now.isoformat(timespec="seconds"),
        "commit": commit(folder),
        "machine": machine(),
        "settings": settings,
        "rows": rows,
    }
    path = folder / now.strftime("%Y-%m-%d-%H%M%S.json")
    for file in (path, folder / "latest.json"):
        file.write_text(json.dumps(content, indent=1) + "\n")
    return path


def commit(folder):
    """The commit, with a mark if files differ from it."""
    command = ["git", "describe", "--always", "--dirty", "--exclude", "*"]
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def machine():
    """What the figures depend on, in one line; nothing that tells whose machine it is."""
    model, memory = "unknown processor", 0
    try:
        with open("/proc/cpuinfo") as file:
            model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), model)
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    except OSError:
        pass
    load = os.getloadavg()[0]
    return f"{os.cpu_count()} x {model}, {memory:.0f} GiB, {platform.system()} {platform.release()}, load {load:.1f}"
