"""What is printed of a run: Markdown tables for people, JSON for programs."""

import json
import random

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
DRAWS = 2_000


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None


def shown(value, digits=3):
    if value is None:
        return ""
    text = f"{value:,.{digits}f}"
    return text.removeprefix("0") if digits == 3 and value < 1 else text


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))] if values else None


def shares(figures, depth, keep=lambda record: True):
    return [record["shares"][depth] for record in figures.get("evidence", []) if keep(record)]


def interval(one, other):
    """The 95 % interval of the mean difference, by drawing questions again; both were asked the same ones."""
    if not one or len(one) != len(other):
        return None
    draw = random.Random(1)
    differences = [a - b for a, b in zip(one, other)]
    means = sorted(mean(draw.choices(differences, k=len(differences))) for _ in range(DRAWS))
    return means[int(DRAWS * 0.025)], means[int(DRAWS * 0.975)]


def summary(figures, first):
    """One system's figures."""
    questions, milliseconds = figures.get("evidence", []), figures.get("search_ms", [])
    result = {key: figures.get(key) for key in ("versions", "door", "lost", "readable", "tried_to_reach", "error")}
    if questions:
        low_high = interval(shares(figures, 10), shares(first, 10))
        result |= {
            "questions": len(questions),
            "evidence": {depth: mean(shares(figures, depth)) for depth in (1, 5, 10)},
            "evidence_at_10_odd": mean(shares(figures, 10, lambda record: record["half"])),
            "evidence_at_10_by_category": {
                name: mean(shares(figures, 10, lambda record, known=known: record["category"] == known))
                for known, name in CATEGORIES.items()
            },
            "evidence_at_10_less_first": low_high,
            "messages": figures["messages"],
            "messages_a_second_searchable": figures["messages"] / figures["add_seconds"],
            "messages_a_second_done": figures["messages"] / figures["all_seconds"],
            "search_ms": {"p50": quantile(milliseconds, 0.5), "p95": quantile(milliseconds, 0.95)},
            "resident_mib": {"started": figures["start_bytes"] / 2**20, "loaded": figures.get("resident_bytes", 0) / 2**20},
            "disk_mib": figures.get("disk_bytes", 0) / 2**20,
        }
    if "sessions" in figures:
        result["longmemeval"] = {
            "questions": len(figures["sessions"]),
            "all_at_5": mean(record[5] for record in figures["sessions"]),
            "all_at_10": mean(record[10] for record in figures["sessions"]),
        }
    return result


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def quality(known):
    head = ["LoCoMo, share of the evidence", "@1", "@5", "@10", "@10, odd conversations", *CATEGORIES.values(), f"@10 less that of {next(iter(known))}, 95 %"]
    rows = []
    for name, found in known.items():
        low_high = found["evidence_at_10_less_first"]
        less = "" if not low_high or low_high == (0, 0) else f"{low_high[0]:+.3f} to {low_high[1]:+.3f}"
        by_category = [shown(found["evidence_at_10_by_category"][category]) for category in CATEGORIES.values()]
        depths = [shown(found["evidence"][depth]) for depth in (1, 5, 10)]
        rows.append([name, *depths, shown(found["evidence_at_10_odd"]), *by_category, less])
    return table(head, rows)


def sessions(known):
    head = ["LongMemEval, all sessions found", "questions", "@5", "@10"]
    rows = [
        [name, str(found["longmemeval"]["questions"]), *(shown(found["longmemeval"][key]) for key in ("all_at_5", "all_at_10"))]
        for name, found in known.items()
        if "longmemeval" in found
    ]
    return table(head, rows) if rows else ""


def speed(known):
    head = ["speed", "messages/s until searchable", "until all work is done", "search p50, ms", "p95, ms", "asked"]
    rows = [
        [
            name,
            shown(found["messages_a_second_searchable"], 0),
            shown(found["messages_a_second_done"], 0),
            shown(found["search_ms"]["p50"], 1),
            shown(found["search_ms"]["p95"], 1),
            found["door"],
        ]
        for name, found in known.items()
    ]
    return table(head, rows)


def keeping(known):
    head = [
        "keeping",
        "memory at the start, MiB",
        "with all messages, MiB",
        "on disk, MiB",
        "messages readable in text files, of 100",
        "lost by kill -9, of 100",
        "hosts it tried to reach",
    ]
    rows = [
        [
            name,
            shown(found["resident_mib"]["started"], 0),
            shown(found["resident_mib"]["loaded"], 0),
            shown(found["disk_mib"], 1),
            str(found["readable"]),
            "" if found["lost"] is None else str(found["lost"]),
            ", ".join(found["tried_to_reach"]) or "none",
        ]
        for name, found in known.items()
    ]
    return table(head, rows)


def write(head, names, figures, folder):
    first = figures[names[0]]
    every = {name: summary(figures[name], first) for name in names}
    known = {name: found for name, found in every.items() if "evidence" in found}
    every_kept = [f"{name}: {found['lost']} lost" for name, found in every.items() if found["lost"] is not None]
    model = figures.get("model", {}).get("resident_bytes", 0) / 2**20
    facts = [f"{key}: {value}" for key, value in head.items() if value != ""]
    facts += [f"messages: {found['messages']}, questions: {found['questions']}" for found in list(known.values())[:1]]
    facts += [f"endpoint with all-MiniLM-L6-v2: {model:.0f} MiB beside the systems that use it"]
    for name, found in every.items():
        facts.append(f"{name}: " + (found["error"] or ", ".join(f"{key} {value}" for key, value in (found["versions"] or {}).items())))
    if every_kept and not known:
        facts.append("of 100 messages after kill -9: " + ", ".join(every_kept))
    tables = [quality(known), speed(known), keeping(known)] if known else []
    parts = ["\n".join("- " + fact for fact in facts), *tables, sessions(every)]
    text = "\n\n".join(part for part in parts if part) + "\n"
    (folder / "comparison.md").write_text(text)
    (folder / "comparison.json").write_text(json.dumps({"run": head, "model_mib": model, "systems": every}, indent=1) + "\n")
    return text
