"""The data plane: accepts clients' requests and forwards each request to a worker.

A package or module imports only from those below it in this list; `make check` and a test enforce
that.

process      one balancer process: a data thread (plane), a control thread (control), and signals
orphan       lets a balancer serve without its supervisor, and hand its sockets to the next one
signals      delivers signals as events of the loop
plane        combines a loop, a pool and a front, and stops them without losing a request
control      the second thread: queues in, reports out, access log, renewal of certificates
downstream   the listener, the clients' connections, and the limits for clients
exchange     one request and its answer, or the tunnel that replaces them
pool         the workers of one application, and the requests that wait for one of them
http         HTTP/1.1 as bytes, without sockets
io           the epoll loop, sockets, system calls, TLS
"""
