"""The one event loop in which top-level `await` runs; between cells it rests, and its tasks go on in the next."""

from .pristine import BUILTINS as __builtins__

from .compiling import CO_COROUTINE
from .pristine import stdlib, whole_builtins


def _trace_of_cancellation(task):
    """Returns where a cancelled task was waiting."""
    try:
        task.result()
    except BaseException as error:
        before_3_11 = type(error.__context__) is type(error)
        return error.__context__.__traceback__ if before_3_11 else error.__traceback__
    return None


class CellLoop:
    def __init__(self):
        self.loop = None
        self.context = {}

    def run(self, program, namespace):
        """Runs the code of a cell, inside the loop; raises what they raise.

        When KeyboardInterrupt ends the waiting, the cell is cancelled first, so that its `finally` parts run.
        """
        with whole_builtins():
            asyncio = stdlib("asyncio")
            loop = self._ready_loop(asyncio)
            before = asyncio.all_tasks(loop)
        task = loop.create_task(self._follow(program, namespace))
        try:
            loop.run_until_complete(task)
        except KeyboardInterrupt as interrupt:
            self._cancel(loop, asyncio.all_tasks(loop) - before, task, interrupt)
            raise interrupt
        finally:
            self._keep_context()

    def has_tasks(self):
        return not self.loop.is_closed() and bool(stdlib("asyncio").all_tasks(self.loop))

    def rest(self, descriptor):
        """Runs the tasks that are left until `descriptor` can be read, and then what is due already."""
        loop = self.loop

        def stop_soon(rounds=5):
            if rounds:
                loop.call_soon(stop_soon, rounds - 1)
            else:
                loop.stop()

        def on_readable():
            loop.remove_reader(descriptor)
            stop_soon()

        loop.add_reader(descriptor, on_readable)
        try:
            loop.run_forever()
        finally:
            loop.remove_reader(descriptor)

    async def _follow(self, program, namespace):
        try:
            for code in program.codes:
                waiting = eval(code, namespace)
                if code.co_flags & CO_COROUTINE:
                    await waiting
        finally:
            self.context = stdlib("contextvars").copy_context()

    def _keep_context(self):
        """A task runs in a copy of the context; what the cell set there is to last."""
        for variable, value in self.context.items():
            if variable.get(self) is not value:
                variable.set(value)

    def _cancel(self, loop, tasks, cell, interrupt):
        """Ends the tasks of an interrupted cell: nothing of it goes on."""
        for task in tasks:
            task.cancel()
        try:
            if tasks:
                loop.run_until_complete(stdlib("asyncio").wait(tasks))
        except KeyboardInterrupt:
            return  # Once more, while the tasks were ending
        if cell in tasks and cell.cancelled():
            interrupt.with_traceback(_trace_of_cancellation(cell))

    def _ready_loop(self, asyncio):
        if self.loop is None or self.loop.is_closed():
            self.loop = self._users_loop(asyncio) or asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        return self.loop

    def _users_loop(self, asyncio):
        """Returns the loop that user code has made current, so that tasks it has created there go on; or None."""
        warnings = stdlib("warnings")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                loop = asyncio.get_event_loop()
            except RuntimeError:
                return None
        return None if loop.is_closed() or loop.is_running() else loop
