"""Reports: a run, or several beside each other, as one HTML file that opens anywhere, offline.

    from ensemble.report import write_report
    write_report(["digits-0412"], Path("digits.html"))

`single_run`, `run_comparison` and `ensemble.views` turn data into sections, `elements` turns sections into HTML
elements, and `template` puts these on a page. Only `report_file` writes files. See docs/report.md.
"""

from ensemble.report.report_file import WrittenReport, find_reported_runs, render_report, write_report
from ensemble.report.template import render_problem_page

html_of = render_report  # as it was called up to version 0.1.0

__all__ = ["WrittenReport", "find_reported_runs", "html_of", "render_problem_page", "render_report", "write_report"]
