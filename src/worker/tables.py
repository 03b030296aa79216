"""Data frames and series of pandas and polars: text with all columns, and their data."""

from .pristine import BUILTINS as __builtins__

from .display import to_json
from .pristine import stdlib

MIME = "application/vnd.dataresource+json"
MOST_COLUMNS = 200
MOST_WIDTH = 2000
MOST_CELLS = 20000
MOST_CHARACTERS = 262144


def prepare_pandas(pandas):
    """Shows more columns than pandas does by default, in `print` too; options that were set stay."""
    for name, usual, wanted in (("display.max_columns", (0, 20), MOST_COLUMNS), ("display.width", (80,), MOST_WIDTH)):
        if pandas.get_option(name) in usual:
            pandas.set_option(name, wanted)


def prepare_polars(polars):
    polars.Config.set_tbl_cols(MOST_COLUMNS)
    polars.Config.set_tbl_width_chars(MOST_WIDTH)


def add_table(bundle, value):
    """Adds the first rows of a frame or series as a table resource; `rows` in it is the number of all rows."""
    name = type(value).__name__
    if name not in ("DataFrame", "Series") or not hasattr(value, "shape"):
        return
    rows = value.shape[0]
    columns = value.shape[1] if len(value.shape) > 1 else 1
    count = max(1, min(rows, MOST_CELLS // max(1, columns)))
    while count:
        table = _table_of(value.head(count))
        table["rows"] = rows
        text = to_json(table)
        if len(text) <= MOST_CHARACTERS:
            bundle[MIME] = text
            return
        count //= 4


def _table_of(part):
    if type(part).__module__.partition(".")[0] == "pandas":
        table = stdlib("json").loads(part.to_json(orient="table", date_format="iso"))
        return {"schema": table["schema"], "data": table["data"]}
    frame = part.to_frame() if type(part).__name__ == "Series" else part
    fields = [{"name": name, "type": str(kind)} for name, kind in frame.schema.items()]
    return {"schema": {"fields": fields}, "data": frame.to_dicts()}
