"""Reports: a run, or several beside each other, as one HTML file that opens anywhere, offline.

    from ensemble.report import write_report
    write_report(["digits-0412"], Path("digits.html"))

Data to sections (`single`, `several`, `views/`), sections to elements (`elements`), elements to a
page (`template`); nothing but `writing` writes. See docs/report.md.
"""

from ensemble.report.template import problem
from ensemble.report.writing import Written, html_of, write_report

__all__ = ["Written", "html_of", "problem", "write_report"]
