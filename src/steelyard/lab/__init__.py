"""The lab: published results and policies, simulated on virtual time with what ships.

timeline   virtual time, and what is to happen on it
worker     a request, and a worker with its line; gauge: what it costs
traffic    requests that arrive; journal: what became of them; draws: random numbers in blocks
queueing   a balancer in front of workers: all of the above with a policy of `select`
theory     closed forms and published figures
stats      means over seeds with their intervals

scored     a balancer whose weights follow utilization; staleness: and one that knows old news
tasks      tasks that stay where they are placed; growth: their maximum load

job        units for nodes that may die; push: sent by a balancer; pull: asked for by nodes
mesh       the same on the mesh that ships, with simulated children

trace      how many requests came; trace_file: from a file; shapes: made up; arrivals: one by one
crew       workers that come and go, with one line; site: what they are like
autoscaled the shipped fleet with a crew; outline: the shipped policies with one
references the rules of HPA and Knative, an oracle; demand: what was needed; contest: all of them

validate, efficiency, timeseries, makespan, scaling, compare   the experiments: `run(wish, watcher)`
           and `draw`
report     what an experiment tells; output: as files; figure: as a picture; watcher: meanwhile

Everything random comes from one seed: the same seed gives the same figures.
"""
