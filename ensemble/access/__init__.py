"""Who asks for something, and whether they may: roles, owners, and what is written down of it.

On a machine of one's own whoever asks is `LOCAL`, who may do everything. A shared server says who
asks with `identify_by`, and from then on nobody is taken for `LOCAL` there.
"""

from ensemble.access.actions import Action
from ensemble.access.people import LOCAL, NOBODY, Person, Role, acting, identify_by
from ensemble.access.permissions import check, may

__all__ = ["LOCAL", "NOBODY", "Action", "Person", "Role", "acting", "check", "identify_by", "may"]
