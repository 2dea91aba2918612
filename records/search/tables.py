"""The table of records/search.md, of the documents that searches with ten seeds or more printed.

    python3 records/search/tables.py records/search/*.json
"""

import json
import sys


def kind(document):
    times = f", {' and '.join(sorted(longer(document)))} ×{document['times']}" if document.get("times", 1) > 1 else ""
    seconds = document.get("budget", {}).get("seconds")
    return document["objective"] + times + (f", {seconds:g} s" if seconds else "")


def longer(document):
    """The searchers that had more inputs than the others, or all."""
    return {row["searcher"] for row in document["comparison"]} & {"random", "peppa-x", "trident"}


def inputs(document, searcher):
    return max(search["evaluations"] for search in document["searches"] if search["searcher"] == searcher)


def main(paths):
    print("| workload | objective | reference | searcher | inputs | median (97.9 %) | share of pairs better than random | p, corrected | differs |")
    print("|---|---|---:|---|---:|---|---:|---:|---|")
    for path in paths:
        document = json.load(open(path))
        head = [document["application"], kind(document), f"{document['reference']['sdc']['rate']:.1%}".replace("%", " %")]
        for row in document["comparison"]:
            better = "–" if row["better_than_random"] is None else f"{row['better_than_random']:.2f}"
            p = "–" if row["p_corrected"] is None else f"{row['p_corrected']:.2g}"
            median = f"{row['median'] * 100:.1f} % ({row['low'] * 100:.1f}–{row['high'] * 100:.1f})"
            cells = head + [row["searcher"], str(inputs(document, row["searcher"])), median, better, p, "yes" if row["differs"] else "no"]
            print("| " + " | ".join(cells) + " |")
            head = ["", "", ""]


main(sys.argv[1:])
