"""What is done to whole campaigns: verify, compact, erase, copy, restore, migrate and export.

All of them iterate over the events of a log and ask their kinds (`campaigns.events`).
"""
