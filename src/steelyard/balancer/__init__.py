"""The data plane: takes clients' requests and forwards each to a worker.

A room imports only from rooms below it; `make check` and a test keep it so.

process      one balancer process: a data thread (plane), a control thread (control), and signals
orphan       a balancer whose supervisor is gone: it serves on, and hands its sockets over
signals      signals as events of the loop
plane        puts a loop, a pool and a front together, and stops them without a loss
control      the second thread: queues in, reports out, access log, renewal of certificates
downstream   clients: the listener, their connections, and the limits that hold for them
exchange     one request and its answer, or the tunnel that both become
pool         the workers of one application, and the requests that wait for one of them
http         HTTP/1.1 as bytes: no socket is touched there
io           the epoll loop, sockets, system calls, TLS
"""
