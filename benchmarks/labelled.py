"""Figures over labelled texts; their measuring lives beside the data formats, this gives it the shape of a figure."""

from benchmarks import screening
from benchmarks.figures import Check, Context, Outcome


def measure_screening(context: Context) -> Outcome:
    """Recall by label, wrong refusals, and the times of the write-time filter. Raises Skipped without the texts."""
    result = screening.run(context.data_with("filter"))
    checks = [
        Check(f"{label} recall", result[label]["recall"], result[label]["target"], at_least=True)
        for label in screening.LABELS
        if result[label]["rows"]
    ]
    checks += [
        Check("wrong refusals", result["benign"]["wrong_refusals"], screening.MAX_WRONG_REFUSALS),
        Check("p99 of 4,000 characters, ms", result["b12"]["p99_ms"], screening.MAX_P99_MS),
        Check("worst adversarial text, ms", result["b12"]["worst_ms"], screening.MAX_WORST_MS),
    ]
    return Outcome(tuple(checks), notes={"rows": sum(result[label]["rows"] for label in screening.LABELS)})
