"""What people have decided about labels in doubt: kept beside the datasets, never in the images.

    from ensemble.datasets.decisions import decision_log, decision_table
    log = decision_log.open_decision_log("test", labels, classes)
    log.append_decision(decision)          one line more in a file, on the disk when it returns
    log.undo_last_decision()               one line more that takes the last one back
    decision_table.format_decisions_csv(log.list_standing_decisions(), title)

`relabeling.relabel_dataset` makes a new dataset of one and a table of decisions.
"""
