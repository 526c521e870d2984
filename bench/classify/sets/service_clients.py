"""Exceptions of clients of web services, rebuilt in the shape of the real classes."""

# The cases do on purpose what the rules forbid, each in one line.
# ruff: noqa: ARG005, E501, N818
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.classify.case import Case, case
from bench.classify.raising import IntegrationError, StatusError, throw
from mcpcore.contract.codes import ErrorCode as E

if TYPE_CHECKING:
    from collections.abc import Callable


# Types of libraries that are rarely installed beside a server, in their shape.


class ApiException(Exception):
    """As the Kubernetes client has it."""

    def __init__(self, status: int, reason: str, body: str) -> None:
        self.status = status
        self.reason = reason
        self.body = body
        self.headers = {"Content-Type": "application/json"}

    def __str__(self) -> str:
        return f"({self.status})\nReason: {self.reason}\nHTTP response headers: {self.headers}\nHTTP response body: {self.body}\n"


class SlackApiError(Exception):
    """As slack_sdk has it."""

    def __init__(self, method: str, error: str) -> None:
        super().__init__(
            f"The request to the Slack API failed. (url: https://slack.com/api/{method})\n"
            f"The server responded with: {{'ok': False, 'error': '{error}'}}"
        )
        self.response = {"ok": False, "error": error}


class APIResponseError(Exception):
    """As notion_client has it."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class SalesforceError(Exception):
    """As simple_salesforce has it."""

    def __init__(self, url: str, status: int, code: str, message: str) -> None:
        self.url = url
        self.status = status
        self.content = [{"errorCode": code, "message": message}]

    def __str__(self) -> str:
        return f"Request refused {self.url}. Response content: {self.content}"


class TwilioRestException(Exception):
    """As twilio has it."""

    def __init__(self, status: int, uri: str, msg: str, code: int) -> None:
        self.status = status
        self.uri = uri
        self.msg = msg
        self.code = code

    def __str__(self) -> str:
        return f"HTTP {self.status} error: {self.msg}"


class StripeError(Exception):
    """As stripe has it."""

    def __init__(self, message: str, http_status: int | None, code: str | None) -> None:
        super().__init__(message)
        self.http_status = http_status
        self.code = code

    def __str__(self) -> str:
        return f"Request req_8HqL0cN5: {self.args[0]}"


class GithubException(Exception):
    """As PyGithub has it."""

    def __init__(self, status: int, data: dict[str, Any]) -> None:
        super().__init__()
        self.status = status
        self.data = data

    def __str__(self) -> str:
        return f"{self.status} {self.data}"


class KafkaException(Exception):
    """As confluent_kafka has it, whose only argument is a KafkaError."""


class ChannelClosedByBroker(Exception):
    """As pika has it."""

    def __init__(self, reply_code: int, reply_text: str) -> None:
        super().__init__(reply_code, reply_text)
        self.reply_code = reply_code
        self.reply_text = reply_text


class LDAPError(Exception):
    """As python-ldap has it, whose only argument is a dictionary."""


class NoValidConnectionsError(OSError):
    """As paramiko has it."""

    def __init__(self) -> None:
        super().__init__(None, "Unable to connect to port 22 on 10.0.4.17")


class SSHException(Exception):
    """As paramiko has it."""


class AuthenticationException(SSHException):
    """As paramiko has it."""


class TransportQueryError(Exception):
    """As gql has it."""


class HttpError(Exception):
    """As googleapiclient has it."""

    def __init__(self, status: int, uri: str, reason: str) -> None:
        self.status_code = status
        self.uri = uri
        self.reason = reason

    def __str__(self) -> str:
        return f'<HttpError {self.status_code} when requesting {self.uri} returned "{self.reason}". Details: "{self.reason}">'


class NotFound(Exception):
    """As docker has it, under APIError."""

    def __init__(self, explanation: str) -> None:
        super().__init__(
            f'404 Client Error for http+docker://localhost/v1.45/containers/web/json: Not Found ("{explanation}")'
        )


# Services, in the shape of their clients.


def _service(label: E, name: str, failure: Callable[[], BaseException]) -> Case:
    return case(label, name, lambda peers: throw(failure()))


CASES: list[Case] = [
    _service(
        E.NOT_FOUND,
        "Kubernetes pod",
        lambda: ApiException(
            404, "Not Found", '{"kind":"Status","status":"Failure","message":"pods \\"web-0\\" not found","code":404}'
        ),
    ),
    _service(
        E.FORBIDDEN,
        "Kubernetes RBAC",
        lambda: ApiException(
            403,
            "Forbidden",
            '{"kind":"Status","message":"secrets is forbidden: User \\"system:serviceaccount:mcp:default\\" cannot list resource \\"secrets\\"","code":403}',
        ),
    ),
    _service(
        E.CONFLICT,
        "Kubernetes resource version",
        lambda: ApiException(
            409,
            "Conflict",
            '{"message":"Operation cannot be fulfilled on deployments.apps \\"web\\": the object has been modified","code":409}',
        ),
    ),
    _service(E.NOT_FOUND, "Slack channel", lambda: SlackApiError("conversations.history", "channel_not_found")),
    _service(E.UNAUTHORIZED, "Slack auth", lambda: SlackApiError("chat.postMessage", "invalid_auth")),
    _service(E.RATE_LIMITED, "Slack ratelimited", lambda: SlackApiError("users.list", "ratelimited")),
    _service(E.FORBIDDEN, "Slack scope", lambda: SlackApiError("files.list", "missing_scope")),
    _service(E.CONFLICT, "Slack name", lambda: SlackApiError("conversations.create", "name_taken")),
    _service(E.UNAUTHORIZED, "Slack plain sentence", lambda: Exception("Slack API error: token_revoked")),
    _service(
        E.NOT_FOUND,
        "Notion page",
        lambda: APIResponseError(
            404,
            "object_not_found",
            "Could not find page with ID: 1429989f-e8ac-4eff-bc8f-57f56486db54. Make sure the relevant pages and databases are shared with your integration.",
        ),
    ),
    _service(E.UNAUTHORIZED, "Notion token", lambda: APIResponseError(401, "unauthorized", "API token is invalid.")),
    _service(
        E.CONFLICT,
        "Notion save",
        lambda: APIResponseError(409, "conflict_error", "Conflict occurred while saving. Please try again."),
    ),
    _service(
        E.UNAUTHORIZED,
        "Salesforce session",
        lambda: SalesforceError(
            "https://acme.my.salesforce.com/services/data/v59.0/query/",
            401,
            "INVALID_SESSION_ID",
            "Session expired or invalid",
        ),
    ),
    _service(
        E.RATE_LIMITED,
        "Salesforce request limit as a sentence",
        lambda: IntegrationError("REQUEST_LIMIT_EXCEEDED: TotalRequests Limit exceeded."),
    ),
    _service(
        E.VALIDATION_ERROR,
        "Salesforce required field as a sentence",
        lambda: IntegrationError("REQUIRED_FIELD_MISSING: Required fields are missing: [LastName]"),
    ),
    _service(
        E.NOT_FOUND,
        "Twilio message",
        lambda: TwilioRestException(
            404,
            "/Accounts/AC1/Messages/SM404.json",
            "Unable to fetch record: The requested resource /2010-04-01/Accounts/AC1/Messages/SM404.json was not found",
            20404,
        ),
    ),
    _service(
        E.UNAUTHORIZED,
        "Twilio authenticate",
        lambda: TwilioRestException(401, "/Accounts/AC1.json", "Unable to create record: Authenticate", 20003),
    ),
    _service(
        E.RATE_LIMITED,
        "Twilio",
        lambda: TwilioRestException(
            429, "/Accounts/AC1/Messages.json", "Unable to create record: Too Many Requests", 20429
        ),
    ),
    _service(
        E.NOT_FOUND,
        "Stripe customer",
        lambda: StripeError("No such customer: 'cus_NffrFeUfNV2Hib'", 404, "resource_missing"),
    ),
    _service(
        E.UNAUTHORIZED,
        "Stripe key",
        lambda: StripeError("Invalid API Key provided: sk_test_****************4242", 401, None),
    ),
    _service(
        E.SERVICE_UNAVAILABLE,
        "Stripe connection",
        lambda: StripeError(
            "Unexpected error communicating with Stripe. (Network error: ConnectionError: Connection reset by peer)",
            None,
            None,
        ),
    ),
    _service(
        E.UNAUTHORIZED, "GitHub", lambda: GithubException(401, {"message": "Requires authentication", "status": "401"})
    ),
    _service(
        E.FORBIDDEN,
        "GitHub organisation",
        lambda: GithubException(
            403,
            {
                "message": "Although you appear to have the correct authorization credentials, the `acme` organization has an IP allow list enabled"
            },
        ),
    ),
    _service(
        E.SERVICE_UNAVAILABLE,
        "GitHub 503",
        lambda: GithubException(503, {"message": "No server is currently available to service your request."}),
    ),
    _service(
        E.NOT_FOUND,
        "Kafka topic",
        lambda: KafkaException('KafkaError{code=UNKNOWN_TOPIC_OR_PART,val=3,str="Broker: Unknown topic or partition"}'),
    ),
    _service(
        E.SERVICE_UNAVAILABLE,
        "Kafka transport",
        lambda: KafkaException(
            'KafkaError{code=_TRANSPORT,val=-195,str="Connect to ipv4#10.0.0.9:9092 failed: Connection refused (after 1ms in state CONNECT)"}'
        ),
    ),
    _service(
        E.TIMEOUT,
        "Kafka metadata",
        lambda: KafkaException('KafkaError{code=_TIMED_OUT,val=-185,str="Failed to get metadata: Local: Timed out"}'),
    ),
    _service(
        E.FORBIDDEN,
        "Kafka authorization",
        lambda: KafkaException(
            'KafkaError{code=TOPIC_AUTHORIZATION_FAILED,val=29,str="Broker: Topic authorization failed"}'
        ),
    ),
    _service(
        E.NOT_FOUND, "RabbitMQ queue", lambda: ChannelClosedByBroker(404, "NOT_FOUND - no queue 'jobs' in vhost '/'")
    ),
    _service(
        E.FORBIDDEN,
        "RabbitMQ access",
        lambda: ChannelClosedByBroker(
            403, "ACCESS_REFUSED - write access to exchange 'amq.topic' in vhost '/' refused for user 'guest'"
        ),
    ),
    _service(
        E.UNAUTHORIZED,
        "LDAP bind",
        lambda: LDAPError({"msgtype": 97, "msgid": 1, "result": 49, "desc": "Invalid credentials", "ctrls": []}),
    ),
    _service(
        E.SERVICE_UNAVAILABLE,
        "LDAP server",
        lambda: LDAPError({"result": -1, "desc": "Can't contact LDAP server", "errno": 107, "ctrls": []}),
    ),
    _service(
        E.NOT_FOUND,
        "LDAP entry",
        lambda: LDAPError({"msgtype": 101, "result": 32, "desc": "No such object", "matched": "dc=example,dc=com"}),
    ),
    _service(
        E.CONFLICT, "LDAP add", lambda: LDAPError({"msgtype": 105, "result": 68, "desc": "Already exists", "ctrls": []})
    ),
    _service(
        E.FORBIDDEN,
        "LDAP modify",
        lambda: LDAPError({"msgtype": 103, "result": 50, "desc": "Insufficient access", "ctrls": []}),
    ),
    _service(E.SERVICE_UNAVAILABLE, "paramiko port", NoValidConnectionsError),
    _service(E.UNAUTHORIZED, "paramiko login", lambda: AuthenticationException("Authentication failed.")),
    _service(
        E.NOT_FOUND,
        "GraphQL repository",
        lambda: TransportQueryError(
            "{'type': 'NOT_FOUND', 'path': ['repository'], 'message': \"Could not resolve to a Repository with the name 'acme/nonesuch'.\"}"
        ),
    ),
    _service(
        E.UNAUTHORIZED,
        "GraphQL extensions",
        lambda: TransportQueryError("{'message': 'You must be logged in.', 'extensions': {'code': 'UNAUTHENTICATED'}}"),
    ),
    _service(
        E.VALIDATION_ERROR,
        "GraphQL bad input",
        lambda: TransportQueryError(
            "{'message': 'Variable \"$first\" got invalid value -1; value must be positive', 'extensions': {'code': 'BAD_USER_INPUT'}}"
        ),
    ),
    _service(
        E.FORBIDDEN,
        "Google Drive file",
        lambda: HttpError(
            403,
            "https://www.googleapis.com/drive/v3/files/1a2b?alt=json",
            "The user does not have sufficient permissions for this file.",
        ),
    ),
    _service(
        E.RATE_LIMITED,
        "Google Sheets quota",
        lambda: HttpError(
            429,
            "https://sheets.googleapis.com/v4/spreadsheets/1a2b?alt=json",
            "Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute per user'",
        ),
    ),
    _service(E.NOT_FOUND, "docker container", lambda: NotFound("No such container: web")),
    _service(E.TIMEOUT, "own wrapper of 504", lambda: StatusError(504, "billing answered too late")),
    _service(E.CONFLICT, "own wrapper of 409", lambda: StatusError(409, "ticket HD-7 could not be closed")),
    _service(E.SERVICE_UNAVAILABLE, "own wrapper of 500", lambda: StatusError(500, "inventory failed")),
    _service(E.NOT_FOUND, "own wrapper of 410", lambda: StatusError(410, "this share link is gone")),
    _service(
        E.VALIDATION_ERROR,
        "own wrapper of 422",
        lambda: StatusError(422, "Validation Failed: title is too long (maximum is 256 characters)"),
    ),
]
