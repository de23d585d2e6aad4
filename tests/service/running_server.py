"""A real server on a real socket, in a thread of this process."""

import contextlib
import socket
import threading

from unimodal.service.server.process import _Server, configured, listening


@contextlib.contextmanager
def running(app, send_buffer=None):
    """The address of a server for an application, until it is stopped and has closed all."""
    is_ready = threading.Event()
    with listening("127.0.0.1", 0) as listener:
        if send_buffer is not None:  # of its connections, in bytes
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        server = _Server(configured(app), is_ready.set)
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        while not is_ready.wait(0.1):
            assert thread.is_alive()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
            server.deadline.cancel()
