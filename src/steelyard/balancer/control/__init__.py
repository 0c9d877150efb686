"""The control thread: all that is not a client's data.

control             the thread itself
agent_link          the link to the agent: queues come in, reports go out
intake              a queue becomes a table.  resolver: names of workers → addresses
reporter            counts become reports for the agent
account             counts become an account for the supervisor.  pusher: sends it
renewal             loads certificates again when their files change
access_log_writer   writes the access log, in a thread of its own
"""
