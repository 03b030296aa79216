"""Pictures of matplotlib and PIL. Nothing here imports either of them before user code has."""

from .pristine import BUILTINS as __builtins__

import sys

from . import display
from .pristine import stdlib

_CJK_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans CJK TC",
    "Noto Sans CJK KR",
    "Noto Sans SC",
    "Noto Sans JP",
    "Noto Sans KR",
    "Source Han Sans SC",
    "Source Han Sans CN",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "Microsoft YaHei",
    "SimHei",
    "PingFang SC",
    "Hiragino Sans",
    "Hiragino Sans GB",
    "Heiti TC",
    "Malgun Gothic",
    "NanumGothic",
    "IPAexGothic",
    "IPAGothic",
    "TakaoGothic",
    "VL Gothic",
    "AR PL UMing CN",
    "AR PL UKai CN",
    "Droid Sans Fallback",
    "Arial Unicode MS",
    "Unifont",
)


def prepare_pyplot(pyplot, emit):
    """Lets `plt.show()` show and close all open figures; adds a font."""
    original = pyplot.show

    def show(*positional, **options):
        if pyplot.get_backend().lower() != "agg":
            return original(*positional, **options)
        return show_open_figures(emit)

    show.__doc__ = original.__doc__
    pyplot.show = show
    _add_cjk_font(sys.modules["matplotlib"])


def _add_cjk_font(matplotlib):
    """Lets matplotlib fall back to a font with Chinese, Japanese and Korean characters, where one is installed."""
    families = matplotlib.rcParams["font.family"]
    names = {font.name for font in matplotlib.font_manager.fontManager.ttflist}
    found = next((name for name in _CJK_FONTS if name in names), None)
    if found is not None and list(families) == ["sans-serif"]:
        matplotlib.rcParams["font.family"] = ["sans-serif", found]


def prepare_image_show(module, emit):
    class Viewer(module.Viewer):
        """Shows what `Image.show()` is called for."""

        def show(self, image, **options):
            emit("display_data", display.bundle_of(image))
            return 1

    module.register(Viewer, 0)


def show_open_figures(emit, draw=True):
    """Shows each open figure that holds anything, in the order they were made, and closes all."""
    helpers = sys.modules.get("matplotlib._pylab_helpers")
    if helpers is None:
        return
    try:
        for manager in list(helpers.Gcf.get_all_fig_managers()):
            figure = manager.canvas.figure
            if draw and not _is_empty(figure):
                bundle = {"text/plain": repr(figure)}
                display.add_picture(bundle, "image/png", _draw(figure))
                emit("display_data", bundle)
    finally:
        helpers.Gcf.destroy_all()


def _is_empty(figure):
    return len(figure.get_children()) <= 1  # The background only


def add_picture(bundle, value):
    """Adds the picture of a figure or image; a figure that is open is closed, as it has been shown."""
    kinds = {base.__module__ + "." + base.__qualname__ for base in type(value).__mro__}
    if "matplotlib.figure.Figure" in kinds:
        display.add_picture(bundle, "image/png", _draw(value))
        helpers = sys.modules.get("matplotlib._pylab_helpers")
        if helpers is not None:
            helpers.Gcf.destroy_fig(value)
    elif "PIL.Image.Image" in kinds:
        display.add_picture(bundle, "image/png", _png_of(value))


def _draw(figure):
    target = stdlib("io").BytesIO()
    figure.savefig(target, format="png", bbox_inches="tight")
    return target.getvalue()


def _png_of(image):
    target = stdlib("io").BytesIO()
    modes = ("1", "L", "LA", "P", "RGB", "RGBA", "I", "I;16")
    (image if image.mode in modes else image.convert("RGB")).save(target, "PNG")
    return target.getvalue()


def scale_down(content, mime, most_bytes, most_side):
    """Returns the picture in a size within both limits; None without PIL."""
    try:
        import PIL.Image
    except ImportError:
        return None
    limit, PIL.Image.MAX_IMAGE_PIXELS = PIL.Image.MAX_IMAGE_PIXELS, None
    try:
        image = PIL.Image.open(stdlib("io").BytesIO(content))
        side = min(most_side, max(image.size) - 1)
        while side > 16:
            image.thumbnail((side, side))
            smaller = _png_of(image)
            if len(smaller) <= most_bytes:
                return smaller if mime == "image/png" else _as_jpeg(image)
            side //= 2
    finally:
        PIL.Image.MAX_IMAGE_PIXELS = limit
    return None


def _as_jpeg(image):
    target = stdlib("io").BytesIO()
    image.convert("RGB").save(target, "JPEG")
    return target.getvalue()
