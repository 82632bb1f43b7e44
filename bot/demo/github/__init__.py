"""The stand-in for GitHub: :class:`StandIn` holds issues and answers as GitHub does; :class:`Fault` lets it fail."""

from bot.demo.github.faults import Fault, faults_of
from bot.demo.github.standin import StandIn
from bot.demo.github.state import StoredComment, StoredIssue
from bot.demo.github.webhooks import Delivery

__all__ = ["Delivery", "Fault", "StandIn", "StoredComment", "StoredIssue", "faults_of"]
