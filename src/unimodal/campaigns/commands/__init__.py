"""What may be asked of a campaign: functions of its state and a request, without I/O.

A command does what is asked to the state, which notes the events, and returns the answer. Where it
has to know more of the log, it raises `LogNeeded` before it has changed anything.
"""
