"""Reference values of drawn-agreement.test.ts: weighted shares by hand, standard errors by the delete-one jackknife."""
import json

# (people fail, judge fails, probability, runs)
table = [
    (True, True, 0.1, 14),
    (True, False, 0.1, 5),
    (True, True, 0.05, 6),
    (True, False, 0.05, 4),
    (False, True, 0.1, 3),
    (False, False, 0.1, 40),
    (False, True, 0.05, 4),
    (False, False, 0.05, 30),
]
items = [(label, verdict, p) for label, verdict, p, runs in table for _ in range(runs)]


def weight(some):
    return sum(1 / p for _, _, p in some)


def figures(some):
    same = [i for i in some if i[0] == i[1]]
    labels = [i for i in some if i[0]]
    verdicts = [i for i in some if i[1]]
    whole = weight(some)
    agreed, failing, judged = (weight(part) / whole for part in (same, labels, verdicts))
    chance = failing * judged + (1 - failing) * (1 - judged)
    hit = weight([i for i in labels if i[1]])
    return {
        "recall": hit / weight(labels),
        "precision": hit / weight(verdicts),
        "specificity": weight([i for i in same if not i[0]]) / (whole - weight(labels)),
        "accuracy": agreed,
        "kappa": (agreed - chance) / (1 - chance),
    }


def jackknife(name):
    n = len(items)
    values = [figures(items[:at] + items[at + 1 :])[name] for at in range(n)]
    mean = sum(values) / n
    return ((n - 1) / n * sum((value - mean) ** 2 for value in values)) ** 0.5


print(json.dumps({name: {"point": point, "error": jackknife(name)} for name, point in figures(items).items()}, indent=1))
