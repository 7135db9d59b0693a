"""The points that a sentence of `show` names: `IN 48 B, depth 1 and 4`, `7 of 12 points`."""

import re

#: In brackets behind what is said of them.
PLACE = re.compile(
    r"\(((?:all points|\d+ of \d+ points|link \d|OUT \d|IN \d|depth \d|[\d, and]+ B\b)[^)]*)\)"
)
#: How the values of a setting are written, and the key of its value.
SETTINGS = [
    (r"OUT ([\d, andto]+) B", "out_bytes"),
    (r"IN ([\d, andto]+) B", "in_bytes"),
    (r"depth ([\d, andto]+)", "depth"),
    (r"^(?:link .*(?:alone|together), )?([\d, andto]+) B", "in_bytes"),
]


def _numbers(text: str) -> list[int]:
    """The numbers of `64, 1,024 and 4,096`."""
    return [int(number.replace(",", "")) for number in re.findall(r"\d+(?:,\d{3})*", text)]


def _is_in(group: str, point: dict) -> bool:
    """Whether a point is one of `IN 48 B, depth 1 and 4`."""
    links = re.findall(r"link (\d+) (alone|together)", group)
    at = (str(point["link"]), "together" if point["together"] else "alone")
    if links and at not in links:
        return False
    for pattern, key in SETTINGS:
        said = re.search(pattern, group)
        if not said:
            continue
        numbers = _numbers(said.group(1))
        is_range = " to " in said.group(1)
        inside = numbers[0] <= point[key] <= numbers[-1] if is_range else point[key] in numbers
        if not inside:
            return False
    return True


def place_in(text: str) -> str | None:
    """What the first brackets that name points contain."""
    found = PLACE.search(" ".join(text.split()))
    return found.group(1) if found else None


def counted(place: str | None) -> int | None:
    """How many points are meant, where they are only counted."""
    found = re.match(r"(\d+) of \d+ points", place or "")
    return int(found.group(1)) if found else None


def named(place: str | None, points: list[dict]) -> list[dict]:
    """The points of a run that are meant; all where none are named, or they are only counted."""
    if not place or place == "all points" or counted(place):
        return points
    groups = place.split("; ")
    return [p for p in points if any(_is_in(group, p["point"]) for group in groups)]


_NUMBER = r"\d+(?:,\d{3})*"
_LIST = rf"{_NUMBER}(?:(?:, {_NUMBER})* and {_NUMBER})?"


def _is_way(words: str, flow: dict) -> bool:
    return flow["words"] in words.split(" and ")


def _among(key: str):
    return lambda words, point: point[key] in _numbers(words)


def _is_preload(words: str, point: dict) -> bool:
    tested = point["aim"] == "hold"
    return point["preload_bytes"] in _numbers(words) if tested else words.startswith("no preload")


#: The settings of the flows of a stream, and of the points of a loop: how they are written, and whether a point has it.
STREAM = [
    (r"(?:IN|OUT)(?: \(both\))?(?: and (?:IN|OUT)(?: \(both\))?)?", _is_way),
    (rf"transfers of {_LIST} B", _among("transfer_bytes")),
    (rf"queue {_LIST}", _among("queue")),
]
LOOP = [
    (rf"notify {_LIST} B", _among("notify_bytes")),
    (rf"(?:no preload and )?preload {_LIST} B|no preload", _is_preload),
]


def of_settings(text: str, points: list[dict], settings: list) -> list[int] | None:
    """The positions of the points that a sentence names by these settings; all where it names none; nothing where
    they are only counted."""
    if re.search(r"\d+ of \d+ points", text):
        return None
    setting = "|".join(f"(?:{pattern})" for pattern, _ in settings)
    group = rf"(?:{setting})(?:, (?:{setting}))*"
    found = re.search(rf"(?:\(|\bat )({group}(?:; {group})*)(?=\)|[ .:,;])", text)
    if not found:
        return list(range(len(points)))
    named = []
    for part in found.group(1).split("; "):
        given = [(said.group(0), is_so) for pattern, is_so in settings for said in re.finditer(pattern, part)]
        named += [at for at, point in enumerate(points) if all(is_so(words, point) for words, is_so in given)]
    return sorted(set(named))
