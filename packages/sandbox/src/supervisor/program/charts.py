"""
The charts of a script: figures of matplotlib and images of PIL as PNG files of its folder `out`, charts of Plotly and Vega as JSON. No library is imported for
that: it is followed where the script imports it.
"""

import os
import sys

MAX_CHARTS = 10
MAX_SPEC = 256 * 1024
MAX_NUMBER_OF_PICTURE = 1_000


class Charts:
    """What was kept since the last time. Pictures go into `folder`; where there is none, they are counted."""

    def __init__(self, folder):
        self.folder = folder
        self.forget()

    def forget(self):
        self.kept, self.unkept, self.beyond = [], 0, 0
        # Figures that need no file any more.
        self.done = []

    def has_room(self):
        if len(self.kept) >= MAX_CHARTS:
            self.beyond += 1
        return len(self.kept) < MAX_CHARTS

    def keep_picture(self, write):
        """`write` writes a PNG to an open file."""
        if self.folder is None:
            self.unkept += 1
        elif self.has_room():
            name, file = self.new_file()
            try:
                with file:
                    write(file)
            except BaseException:
                os.unlink(os.path.join(self.folder, name))
                raise
            self.kept.append({"file": name})

    def new_file(self):
        for number in range(1, MAX_NUMBER_OF_PICTURE):
            name = f"figure-{number}.png"
            try:
                return name, open(os.path.join(self.folder, name), "x+b")
            except FileExistsError:
                pass
        raise FileExistsError("the folder out has too many pictures")

    def keep_figure(self, figure):
        if any(one is figure for one in self.done):
            return
        self.done.append(figure)
        self.keep_picture(lambda file: figure.savefig(file, format="png", bbox_inches="tight"))

    def keep_image(self, image):
        self.keep_picture(lambda file: write_image(image, file))

    def keep_spec(self, kind, spec):
        if len(spec) > MAX_SPEC:
            raise ValueError(f"as JSON it has {len(spec)} characters, and {MAX_SPEC} are taken")
        if self.has_room():
            self.kept.append({"kind": kind, "spec": spec})

    def keep_value(self, value):
        """Keeps a value that is a chart. Returns whether its text is nothing but that."""
        spec = spec_of(value)
        if spec is not None:
            self.keep_spec(*spec)
        elif is_a(value, "matplotlib.figure", "Figure"):
            self.keep_figure(value)
        elif is_a(value, "PIL.Image", "Image"):
            self.keep_image(value)
        elif callable(getattr(type(value), "_repr_png_", None)):
            data = value._repr_png_()
            if isinstance(data, bytes):
                self.keep_picture(lambda file: file.write(data))
        return spec is not None

    def note_saved(self, figure, place):
        """A figure that the script itself has saved in its folder `out` needs no second file."""
        if self.folder is not None and isinstance(place, (str, os.PathLike)):
            if os.path.dirname(os.path.realpath(place)) == os.path.realpath(self.folder):
                self.done.append(figure)


def write_image(image, file):
    try:
        image.save(file, "PNG")
    except OSError:  # PNG has not all modes
        file.seek(0)
        file.truncate()
        image.convert("RGB").save(file, "PNG")


def spec_of(value):
    """The kind and the JSON of a chart that is data; else nothing."""
    kind = type(value)
    if is_a(value, "plotly.basedatatypes", "BaseFigure"):
        return "plotly", value.to_json()
    if kind is dict and isinstance(value.get("$schema"), str) and "/schema/vega" in value["$schema"]:
        import json

        return "vega", json.dumps(value)
    if "altair" in sys.modules and any(base.__module__.startswith("altair.") for base in kind.__mro__) and hasattr(kind, "to_json"):
        return "vega", value.to_json(indent=None)
    return None


def is_a(value, module, name):
    """Whether its type is made of a class of a module that is loaded, whatever it says of itself."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and any(base is kind for base in type(value).__mro__)


class ImportHooks:
    """Calls a hook with a module as soon as that was imported. Stands among the finders of `sys.meta_path`."""

    def __init__(self, hooks):
        self.hooks = hooks
        for name, hook in hooks.items():
            if name in sys.modules:
                call_hook(hook, sys.modules[name])
        sys.meta_path.insert(0, self)

    def find_spec(self, name, path=None, target=None):
        if name not in self.hooks:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                follow_loader(spec.loader, self.hooks[name])
                return spec
        return None


def follow_loader(loader, hook):
    try:
        execute = loader.exec_module
    except AttributeError:
        return

    def exec_module(module):
        execute(module)
        call_hook(hook, module)

    try:
        loader.exec_module = exec_module
    except AttributeError:
        pass  # it takes none: then only what is open at the end is kept


def call_hook(hook, module):
    try:
        hook(module)
    except BaseException:
        pass  # it is not what its name says
