"""The loop and its sockets. No module of this package knows HTTP.

loop       epoll, deadlines, and one handler per socket
stream     a non-blocking socket in the loop, with the bytes that it could not send yet
tls        encryption between a stream and its socket
syscalls   the few system calls of the hot path, and the clocks
octets     searches and tests of bytes by position, mostly without copies
"""
