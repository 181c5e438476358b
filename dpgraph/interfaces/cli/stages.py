"""A progress bar over the stages of a command whose library call cannot say how far it is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm

__all__ = ["stages"]


@contextmanager
def stages(total: int, progress: bool) -> Iterator[Callable[[str], None]]:
    """Yield a function that names the stage that begins; the bar on stderr shows it and the time that has passed.

    Examples
    --------
    >>> with stages(2, progress=False) as begin:
    ...     begin("reading")
    ...     begin("writing")
    """
    with tqdm(total=total, disable=not progress, bar_format="{desc} |{bar}| {n_fmt}/{total_fmt} [{elapsed}]") as bar:
        begun = False

        def begin(stage: str) -> None:
            nonlocal begun
            bar.update(1 if begun else 0)
            begun = True
            bar.set_description(stage)

        yield begin
        bar.update(1)
