"""What an open tab of a shared server may ask, and how it is told to go.

Of all that Streamlit takes it may ask what its pages need. Streamlit does the rest for anybody,
signed in or not: it empties the caches of everybody, tells what is changed in the folder that the
program lies in, and may write there.
"""

import streamlit as st
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

_PUBLIC_MESSAGES = {"rerun_script", "stop_script", "app_heartbeat"}
_PAGE_OPERATIONS = {"deferred_file", "dataframe_chunk"}  # a download made when it is asked for, a table


def is_message_allowed(content: bytes | None, admitted: bool) -> bool:
    """Whether a message is one that a page's browser sends by itself, or for its visitor.

    Args:
      content: of the message; None of one that is text. What is no message at all Streamlit
        refuses itself, and closes the tab.
    """
    if content is None:
        return True
    message = BackMsg()
    try:
        message.ParseFromString(content)
    except Exception:  # protobuf's own, whose package is none of what this one requires
        return True
    message_kind = message.WhichOneof("type")
    if message_kind in _PUBLIC_MESSAGES or not admitted:
        return message_kind in _PUBLIC_MESSAGES
    operation = message.backend_operation_request.WhichOneof("payload")
    return message_kind == "file_urls_request" or operation in _PAGE_OPERATIONS


def build_leave_message() -> bytes:
    """Has a browser leave what its tab shows for the page that asks to sign in.

    A closed connection alone leaves everything standing on the screen. Only a page that is being
    drawn can send such a word by what Streamlit documents, and here none is.
    """
    message = ForwardMsg()
    message.auth_redirect.url = f"/{st.get_option('server.baseUrlPath').strip('/')}"
    return bytes(message.SerializeToString())
