"""A third held-back part: failures of servers' own sentences, of services and of libraries, labelled without the tables."""

# The cases do on purpose what the rules forbid, each in one line.
# ruff: noqa: ARG001, ARG005, E501, N818, PLC0207, SIM905, UP032, B010
from __future__ import annotations

import subprocess
import tempfile
from typing import TYPE_CHECKING, Any, NoReturn

from bench.classify.case import Cases
from mcpcore.codes import ErrorCode as E

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.classify.servers import Peers

CASES = Cases(held_back=True)
add = CASES.add

KINDS: dict[str, str] = {}
"""Which way each case arises: by its name."""


def _kind(name: str) -> None:
    """Mark every case added since the last mark."""
    for case in CASES:
        KINDS.setdefault(case.name, name)


def _throw(failure: BaseException) -> NoReturn:
    raise failure


def _say(label: E, kind: type[Exception], sentence: str, *rest: Any) -> None:
    """A failure that a server writes in its own words."""
    add(label, f"{kind.__name__}: {sentence[:100]}", lambda peers: _throw(kind(sentence, *rest)))


# Exceptions as applications define them.


class UpstreamError(Exception):
    pass


class ToolExecutionError(Exception):
    pass


class IntegrationError(Exception):
    pass


class SyncError(RuntimeError):
    pass


class GitError(Exception):
    pass


class WorkflowError(Exception):
    pass


class BatchJobError(Exception):
    pass


class IamClientError(Exception):
    pass


class StatusError(Exception):
    """The usual wrapper of an HTTP answer."""

    def __init__(self, status_code: int, message: str) -> None:
        super().__init__(message)
        self.status_code = status_code


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


# ---------------------------------------------------------------------------------------------------------------------
# Sentences of servers: something does not exist.

_say(E.NOT_FOUND, RuntimeError, "Image tag v1.4.2 not found in repository after push operation")
_say(E.NOT_FOUND, ToolExecutionError, "Segment prod not found in core network core-network-0a1b2c3d.")
_say(E.NOT_FOUND, Exception, "There is no user registered with the email address bob@example.com")
_say(E.NOT_FOUND, RuntimeError, "Could not find a workbook with the id 41")
_say(E.NOT_FOUND, UpstreamError, "Collection `embeddings` doesn't exist!")
_say(E.NOT_FOUND, IntegrationError, "The specified blob does not exist. RequestId:7f0c1b52-101e-004d-7d2a-1f5b0e000000")
_say(E.NOT_FOUND, GitError, "fatal: repository 'https://github.com/acme/nonesuch.git/' not found")
_say(E.NOT_FOUND, Exception, "Unable to locate Lambda function 'resize-images' in eu-west-1")
_say(E.NOT_FOUND, Exception, "no such host group: Linux servers")
_say(E.NOT_FOUND, IntegrationError, "404 page not found")

# Something is in the way.

_say(E.CONFLICT, Exception, "A pull request already exists for acme:feature/login.")
_say(E.CONFLICT, UpstreamError, "Instance i-0abc is already running")
_say(
    E.CONFLICT,
    GitError,
    "Auto-merging README.md\nCONFLICT (content): Merge conflict in README.md\nAutomatic merge failed; fix conflicts and then commit the result.",
)
_say(E.CONFLICT, IntegrationError, 'Conflict. The container name "/web" is already in use by container "3f1c2a".')
_say(E.CONFLICT, Exception, "That username is already taken")
_say(E.CONFLICT, WorkflowError, "An invoice with number INV-2031 exists already")
_say(E.CONFLICT, Exception, "The document was modified by another user since you opened it. Reload and try again.")

# A limit of calls.

_say(
    E.RATE_LIMITED,
    UpstreamError,
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
)
_say(E.RATE_LIMITED, Exception, "Slack API rate limit")
_say(E.RATE_LIMITED, Exception, "Daily quota exceeded for project acme-maps; resets at midnight Pacific time")
_say(
    E.RATE_LIMITED,
    IntegrationError,
    "toomanyrequests: You have reached your pull rate limit. You may increase the limit by authenticating and upgrading.",
)
_say(E.RATE_LIMITED, RuntimeError, "Too many requests to the geocoder, slow down")
_say(E.RATE_LIMITED, Exception, "Alpha Vantage: our standard API rate limit is 25 requests per day")

# Time ran out.

_say(E.TIMEOUT, Exception, "Query timed out")
_say(E.TIMEOUT, Exception, "PagerDuty webhook timeout")
_say(E.TIMEOUT, RuntimeError, "Athena query 9f2d did not complete within 300 seconds")
_say(
    E.TIMEOUT,
    Exception,
    'page.goto: Timeout 30000ms exceeded.\nCall log:\n  - navigating to "https://example.com/", waiting until "load"',
)
_say(E.TIMEOUT, BatchJobError, "Gave up waiting for translation job tj-88 after 120s")
_say(E.TIMEOUT, UpstreamError, "etcdserver: request timed out")
_say(E.TIMEOUT, RuntimeError, "The operation took too long and was stopped after 60 seconds")
_say(E.TIMEOUT, Exception, "Deadline of 20s exceeded while waiting for the browser")
_say(E.TIMEOUT, SSHException, "Timeout opening channel.")

# Not allowed.

_say(E.FORBIDDEN, Exception, "You do not have permission to modify this payment method")
_say(E.FORBIDDEN, Exception, "Access denied - path outside allowed directories: /etc/shadow not in /home/app/data")
_say(E.FORBIDDEN, ToolExecutionError, "User bob lacks the 'deploy' permission on project apollo")
_say(E.FORBIDDEN, UpstreamError, "Resource not accessible by integration")
_say(E.FORBIDDEN, IntegrationError, "Must have admin rights to Repository.")
_say(E.FORBIDDEN, Exception, "Only the owner of a board may delete it")
_say(E.FORBIDDEN, Exception, "insufficient privileges to read mailbox finance@example.com")

# Who are you.

_say(E.UNAUTHORIZED, RuntimeError, "Bad credentials")
_say(E.UNAUTHORIZED, Exception, "Your session has expired. Please log in again.")
_say(E.UNAUTHORIZED, IntegrationError, "Client must be authenticated to access this resource.")
_say(E.UNAUTHORIZED, GitError, "fatal: Authentication failed for 'https://github.com/acme/private.git/'")
_say(E.UNAUTHORIZED, Exception, "OAuth error: invalid_token")
_say(E.UNAUTHORIZED, Exception, "Login failed: wrong username or password")
_say(E.UNAUTHORIZED, SyncError, "Refresh token is no longer valid; reconnect the Google account")
_say(E.UNAUTHORIZED, ToolExecutionError, "Not authenticated. Run the login tool first.")

# A service behind is away.

_say(E.SERVICE_UNAVAILABLE, RuntimeError, "backend unavailable")
_say(
    E.SERVICE_UNAVAILABLE,
    UpstreamError,
    "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
)
_say(E.SERVICE_UNAVAILABLE, Exception, "Lost connection to MQTT broker")
_say(
    E.SERVICE_UNAVAILABLE,
    IntegrationError,
    "upstream connect error or disconnect/reset before headers. reset reason: connection failure",
)
_say(E.SERVICE_UNAVAILABLE, Exception, "no healthy upstream")
_say(E.SERVICE_UNAVAILABLE, SyncError, "Could not reach the Jira instance at https://acme.atlassian.net")
_say(E.SERVICE_UNAVAILABLE, RuntimeError, "Failed to connect to Supabase: [Errno 111] Connection refused")
_say(E.SERVICE_UNAVAILABLE, Exception, "API call failed with status 502: <html><title>Bad Gateway</title></html>")
_say(E.SERVICE_UNAVAILABLE, Exception, "GitLab is down for maintenance, please check back later")
_say(E.SERVICE_UNAVAILABLE, WorkflowError, "circuit breaker is open for payments-api")
_say(
    E.SERVICE_UNAVAILABLE,
    GitError,
    "fatal: unable to access 'https://git.acme.test/web.git/': Could not resolve host: git.acme.test",
)
_say(E.SERVICE_UNAVAILABLE, Exception, "The weather service is temporarily offline")

# The input breaks a rule.

_say(E.VALIDATION_ERROR, ValueError, "formality must be 'FORMAL' or 'INFORMAL'")
_say(E.VALIDATION_ERROR, ToolExecutionError, "max_tokens must be an integer, got 'many'")
_say(E.VALIDATION_ERROR, Exception, "'lagos' is not a valid timezone")
_say(E.VALIDATION_ERROR, RuntimeError, "Invalid email address: bob@@example")
_say(
    E.VALIDATION_ERROR, UpstreamError, "body failed validation: body.parent should be defined, instead was `undefined`."
)
_say(E.VALIDATION_ERROR, Exception, "Field 'priority' is required")
_say(E.VALIDATION_ERROR, Exception, "Invalid date format, expected YYYY-MM-DD")

# The server was set up wrongly, or did not come up.

_say(
    E.CONFIGURATION_ERROR,
    Exception,
    "Reddit API credentials not configured. Please add REDDIT_CLIENT_ID and REDDIT_CLIENT_SECRET to your .env file.",
)
_say(E.CONFIGURATION_ERROR, SyncError, "Missing configuration: NEO4J_URI")
_say(E.CONFIGURATION_ERROR, IntegrationError, "MONITORING_ENDPOINT is not configured on this server")
_say(E.INITIALIZATION_FAILED, Exception, "Initialization of the embedding model failed")

# The store.

_say(E.DATABASE_ERROR, Exception, "ORA-00942: table or view does not exist")
_say(E.DATABASE_ERROR, RuntimeError, 'relation "orders_2024" does not exist\nLINE 1: SELECT * FROM orders_2024')
_say(E.DATABASE_ERROR, Exception, "database disk image is malformed")
_say(
    E.DATABASE_ERROR,
    WorkflowError,
    "Transaction (Process ID 61) was deadlocked on lock resources with another process and has been chosen as the deadlock victim.",
)

# Called off.

_say(E.REQUEST_CANCELLED, Exception, "Request was cancelled by the client")
_say(E.REQUEST_CANCELLED, RuntimeError, "Operation cancelled by user")
_say(E.REQUEST_CANCELLED, BatchJobError, "The export was canceled")

# Bytes that cannot be written or read.

_say(E.SERIALIZATION_ERROR, RuntimeError, "Failed to serialize the report to JSON")
_say(E.SERIALIZATION_ERROR, IntegrationError, "Could not deserialize Avro record: schema fingerprint differs")
_kind("free sentence")

# Sentences that say nothing, or whose words and figures mean something else.

for _sentence in (
    "Something went wrong",
    "Failed to process",
    "Unexpected internal error",
    "The operation did not complete successfully",
    "Command failed with exit code 1",
    "Markdown generation failed",
    "handler blew up",
    "execution failure",
    "",
    "Failed to process 401 records",
    "Error processing row 429 of 503",
    "Analysis failed for 3 of 7 files",
    "Simulation diverged at step 404",
    "Unable to render the 'permissions' widget",
    "Could not draw the timeouts-per-hour chart",
    "oops",
    "Tool returned an unexpected result: []",
):
    _say(E.INTERNAL_ERROR, Exception if len(_sentence) % 2 else RuntimeError, _sentence)
_say(E.INTERNAL_ERROR, WorkflowError, "Step 'collect' of workflow nightly-digest ended in state FAILED")
_kind("sentence that says nothing")

# ---------------------------------------------------------------------------------------------------------------------
# Services, in the shape of their clients.


def _service(label: E, name: str, failure: Callable[[], BaseException]) -> None:
    add(label, name, lambda peers: _throw(failure()))


_service(
    E.NOT_FOUND,
    "Kubernetes pod",
    lambda: ApiException(
        404, "Not Found", '{"kind":"Status","status":"Failure","message":"pods \\"web-0\\" not found","code":404}'
    ),
)
_service(
    E.FORBIDDEN,
    "Kubernetes RBAC",
    lambda: ApiException(
        403,
        "Forbidden",
        '{"kind":"Status","message":"secrets is forbidden: User \\"system:serviceaccount:mcp:default\\" cannot list resource \\"secrets\\"","code":403}',
    ),
)
_service(
    E.CONFLICT,
    "Kubernetes resource version",
    lambda: ApiException(
        409,
        "Conflict",
        '{"message":"Operation cannot be fulfilled on deployments.apps \\"web\\": the object has been modified","code":409}',
    ),
)
_service(E.NOT_FOUND, "Slack channel", lambda: SlackApiError("conversations.history", "channel_not_found"))
_service(E.UNAUTHORIZED, "Slack auth", lambda: SlackApiError("chat.postMessage", "invalid_auth"))
_service(E.RATE_LIMITED, "Slack ratelimited", lambda: SlackApiError("users.list", "ratelimited"))
_service(E.FORBIDDEN, "Slack scope", lambda: SlackApiError("files.list", "missing_scope"))
_service(E.CONFLICT, "Slack name", lambda: SlackApiError("conversations.create", "name_taken"))
_service(E.UNAUTHORIZED, "Slack plain sentence", lambda: Exception("Slack API error: token_revoked"))
_service(
    E.NOT_FOUND,
    "Notion page",
    lambda: APIResponseError(
        404,
        "object_not_found",
        "Could not find page with ID: 1429989f-e8ac-4eff-bc8f-57f56486db54. Make sure the relevant pages and databases are shared with your integration.",
    ),
)
_service(E.UNAUTHORIZED, "Notion token", lambda: APIResponseError(401, "unauthorized", "API token is invalid."))
_service(
    E.CONFLICT,
    "Notion save",
    lambda: APIResponseError(409, "conflict_error", "Conflict occurred while saving. Please try again."),
)
_service(
    E.UNAUTHORIZED,
    "Salesforce session",
    lambda: SalesforceError(
        "https://acme.my.salesforce.com/services/data/v59.0/query/",
        401,
        "INVALID_SESSION_ID",
        "Session expired or invalid",
    ),
)
_service(
    E.RATE_LIMITED,
    "Salesforce request limit as a sentence",
    lambda: IntegrationError("REQUEST_LIMIT_EXCEEDED: TotalRequests Limit exceeded."),
)
_service(
    E.VALIDATION_ERROR,
    "Salesforce required field as a sentence",
    lambda: IntegrationError("REQUIRED_FIELD_MISSING: Required fields are missing: [LastName]"),
)
_service(
    E.NOT_FOUND,
    "Twilio message",
    lambda: TwilioRestException(
        404,
        "/Accounts/AC1/Messages/SM404.json",
        "Unable to fetch record: The requested resource /2010-04-01/Accounts/AC1/Messages/SM404.json was not found",
        20404,
    ),
)
_service(
    E.UNAUTHORIZED,
    "Twilio authenticate",
    lambda: TwilioRestException(401, "/Accounts/AC1.json", "Unable to create record: Authenticate", 20003),
)
_service(
    E.RATE_LIMITED,
    "Twilio",
    lambda: TwilioRestException(
        429, "/Accounts/AC1/Messages.json", "Unable to create record: Too Many Requests", 20429
    ),
)
_service(
    E.NOT_FOUND,
    "Stripe customer",
    lambda: StripeError("No such customer: 'cus_NffrFeUfNV2Hib'", 404, "resource_missing"),
)
_service(
    E.UNAUTHORIZED,
    "Stripe key",
    lambda: StripeError("Invalid API Key provided: sk_test_****************4242", 401, None),
)
_service(
    E.SERVICE_UNAVAILABLE,
    "Stripe connection",
    lambda: StripeError(
        "Unexpected error communicating with Stripe. (Network error: ConnectionError: Connection reset by peer)",
        None,
        None,
    ),
)
_service(
    E.UNAUTHORIZED, "GitHub", lambda: GithubException(401, {"message": "Requires authentication", "status": "401"})
)
_service(
    E.FORBIDDEN,
    "GitHub organisation",
    lambda: GithubException(
        403,
        {
            "message": "Although you appear to have the correct authorization credentials, the `acme` organization has an IP allow list enabled"
        },
    ),
)
_service(
    E.SERVICE_UNAVAILABLE,
    "GitHub 503",
    lambda: GithubException(503, {"message": "No server is currently available to service your request."}),
)
_service(
    E.NOT_FOUND,
    "Kafka topic",
    lambda: KafkaException('KafkaError{code=UNKNOWN_TOPIC_OR_PART,val=3,str="Broker: Unknown topic or partition"}'),
)
_service(
    E.SERVICE_UNAVAILABLE,
    "Kafka transport",
    lambda: KafkaException(
        'KafkaError{code=_TRANSPORT,val=-195,str="Connect to ipv4#10.0.0.9:9092 failed: Connection refused (after 1ms in state CONNECT)"}'
    ),
)
_service(
    E.TIMEOUT,
    "Kafka metadata",
    lambda: KafkaException('KafkaError{code=_TIMED_OUT,val=-185,str="Failed to get metadata: Local: Timed out"}'),
)
_service(
    E.FORBIDDEN,
    "Kafka authorization",
    lambda: KafkaException(
        'KafkaError{code=TOPIC_AUTHORIZATION_FAILED,val=29,str="Broker: Topic authorization failed"}'
    ),
)
_service(E.NOT_FOUND, "RabbitMQ queue", lambda: ChannelClosedByBroker(404, "NOT_FOUND - no queue 'jobs' in vhost '/'"))
_service(
    E.FORBIDDEN,
    "RabbitMQ access",
    lambda: ChannelClosedByBroker(
        403, "ACCESS_REFUSED - write access to exchange 'amq.topic' in vhost '/' refused for user 'guest'"
    ),
)
_service(
    E.UNAUTHORIZED,
    "LDAP bind",
    lambda: LDAPError({"msgtype": 97, "msgid": 1, "result": 49, "desc": "Invalid credentials", "ctrls": []}),
)
_service(
    E.SERVICE_UNAVAILABLE,
    "LDAP server",
    lambda: LDAPError({"result": -1, "desc": "Can't contact LDAP server", "errno": 107, "ctrls": []}),
)
_service(
    E.NOT_FOUND,
    "LDAP entry",
    lambda: LDAPError({"msgtype": 101, "result": 32, "desc": "No such object", "matched": "dc=example,dc=com"}),
)
_service(
    E.CONFLICT, "LDAP add", lambda: LDAPError({"msgtype": 105, "result": 68, "desc": "Already exists", "ctrls": []})
)
_service(
    E.FORBIDDEN,
    "LDAP modify",
    lambda: LDAPError({"msgtype": 103, "result": 50, "desc": "Insufficient access", "ctrls": []}),
)
_service(E.SERVICE_UNAVAILABLE, "paramiko port", NoValidConnectionsError)
_service(E.UNAUTHORIZED, "paramiko login", lambda: AuthenticationException("Authentication failed."))
_service(
    E.NOT_FOUND,
    "GraphQL repository",
    lambda: TransportQueryError(
        "{'type': 'NOT_FOUND', 'path': ['repository'], 'message': \"Could not resolve to a Repository with the name 'acme/nonesuch'.\"}"
    ),
)
_service(
    E.UNAUTHORIZED,
    "GraphQL extensions",
    lambda: TransportQueryError("{'message': 'You must be logged in.', 'extensions': {'code': 'UNAUTHENTICATED'}}"),
)
_service(
    E.VALIDATION_ERROR,
    "GraphQL bad input",
    lambda: TransportQueryError(
        "{'message': 'Variable \"$first\" got invalid value -1; value must be positive', 'extensions': {'code': 'BAD_USER_INPUT'}}"
    ),
)
_service(
    E.FORBIDDEN,
    "Google Drive file",
    lambda: HttpError(
        403,
        "https://www.googleapis.com/drive/v3/files/1a2b?alt=json",
        "The user does not have sufficient permissions for this file.",
    ),
)
_service(
    E.RATE_LIMITED,
    "Google Sheets quota",
    lambda: HttpError(
        429,
        "https://sheets.googleapis.com/v4/spreadsheets/1a2b?alt=json",
        "Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute per user'",
    ),
)
_service(E.NOT_FOUND, "docker container", lambda: NotFound("No such container: web"))
_service(E.TIMEOUT, "own wrapper of 504", lambda: StatusError(504, "billing answered too late"))
_service(E.CONFLICT, "own wrapper of 409", lambda: StatusError(409, "ticket HD-7 could not be closed"))
_service(E.SERVICE_UNAVAILABLE, "own wrapper of 500", lambda: StatusError(500, "inventory failed"))
_service(E.NOT_FOUND, "own wrapper of 410", lambda: StatusError(410, "this share link is gone"))
_service(
    E.VALIDATION_ERROR,
    "own wrapper of 422",
    lambda: StatusError(422, "Validation Failed: title is too long (maximum is 256 characters)"),
)
_kind("type of a service's client, rebuilt in its shape")

# ---------------------------------------------------------------------------------------------------------------------
# AWS, Google, Azure by their own types.


def _aws(label: E, operation: str, code: str, message: str, status: int) -> None:
    def make(peers: Peers) -> NoReturn:
        from botocore.exceptions import ClientError

        raise ClientError(
            {
                "Error": {"Code": code, "Message": message},
                "ResponseMetadata": {"HTTPStatusCode": status, "RetryAttempts": 4},
            },
            operation,
        )

    add(label, f"{operation} {code}", make, "botocore")


_aws(
    E.NOT_FOUND,
    "GetQueueUrl",
    "AWS.SimpleQueueService.NonExistentQueue",
    "The specified queue does not exist for this wsdl version.",
    400,
)
_aws(E.CONFLICT, "CreateBucket", "BucketAlreadyExists", "The requested bucket name is not available.", 409)
_aws(E.CONFLICT, "CreateRole", "EntityAlreadyExists", "Role with name mcp-runner already exists.", 409)
_aws(E.RATE_LIMITED, "InvokeModel", "ThrottlingException", "Too many tokens, please wait before trying again.", 429)
_aws(E.RATE_LIMITED, "DescribeInstances", "RequestLimitExceeded", "Request limit exceeded.", 503)
_aws(E.UNAUTHORIZED, "GetCallerIdentity", "ExpiredToken", "The security token included in the request is expired", 403)
_aws(
    E.UNAUTHORIZED,
    "ListFunctions",
    "UnrecognizedClientException",
    "The security token included in the request is invalid.",
    403,
)
_aws(
    E.FORBIDDEN,
    "RunInstances",
    "UnauthorizedOperation",
    "You are not authorized to perform this operation. Encoded authorization failure message: 4tUYc",
    403,
)
_aws(
    E.TIMEOUT,
    "PutObject",
    "RequestTimeout",
    "Your socket connection to the server was not read from or written to within the timeout period.",
    400,
)
_aws(
    E.SERVICE_UNAVAILABLE,
    "GetItem",
    "InternalServerError",
    "The request processing has failed because of an unknown error",
    500,
)
_aws(E.NOT_FOUND, "DescribeInstances", "InvalidInstanceID.NotFound", "The instance ID 'i-0abc' does not exist", 400)


@lambda made: add(E.CONFIGURATION_ERROR, "client without a region", made, "boto3")
def _no_region(peers: Peers) -> None:
    import boto3

    boto3.session.Session(aws_access_key_id="a", aws_secret_access_key="b").client("sqs", region_name=None)


def _sqs(endpoint: str, **settings: Any) -> Any:
    import boto3
    from botocore.config import Config

    return boto3.client(
        "sqs",
        region_name="eu-west-1",
        endpoint_url=endpoint,
        aws_access_key_id="a",
        aws_secret_access_key="b",
        config=Config(retries={"max_attempts": 0}, **settings),
    )


add(E.SERVICE_UNAVAILABLE, "SQS on a dead port", lambda peers: _sqs(peers.dead).list_queues(), "boto3")
add(E.TIMEOUT, "SQS that is silent", lambda peers: _sqs(peers.url("slow/2"), read_timeout=0.2).list_queues(), "boto3")
add(
    E.CONFIGURATION_ERROR,
    "profile that nobody wrote",
    lambda peers: __import__("boto3").Session(profile_name="no-such-profile"),
    "boto3",
)


def _google(label: E, kind: str, message: str) -> None:
    def make(peers: Peers) -> NoReturn:
        from google.api_core import exceptions

        raise getattr(exceptions, kind)(message)

    add(label, f"{kind}: {message[:60]}", make, "google.api_core")


_google(E.NOT_FOUND, "NotFound", "Secret [projects/41/secrets/api-key] not found or has no versions.")
_google(E.CONFLICT, "AlreadyExists", "Topic already exists in the project (resource=orders).")
_google(E.FORBIDDEN, "PermissionDenied", "Permission 'bigquery.jobs.create' denied on project acme")
_google(
    E.RATE_LIMITED,
    "ResourceExhausted",
    "Quota exceeded for aiplatform.googleapis.com/generate_content_requests_per_minute",
)
_google(E.SERVICE_UNAVAILABLE, "BadGateway", "GET https://bigquery.googleapis.com/bigquery/v2/projects: upstream")
_google(E.TIMEOUT, "GatewayTimeout", "POST https://storage.googleapis.com/upload: late")


@lambda made: add(E.UNAUTHORIZED, "refresh refused", made, "google.auth")
def _refresh(peers: Peers) -> NoReturn:
    from google.auth.exceptions import RefreshError

    raise RefreshError("invalid_grant: Token has been expired or revoked.", {"error": "invalid_grant"})


def _azure(label: E, name: str, path: Callable[[Peers], str]) -> None:
    def make(peers: Peers) -> None:
        from azure.core import PipelineClient
        from azure.core.pipeline.policies import RetryPolicy
        from azure.core.rest import HttpRequest

        client: Any = PipelineClient("http://127.0.0.1", policies=[RetryPolicy(retry_total=0)])
        with client:
            client.send_request(HttpRequest("GET", path(peers))).raise_for_status()

    add(label, name, make, "azure.core")


_azure(E.RATE_LIMITED, "429", lambda peers: peers.url("429?after=0"))
_azure(
    E.FORBIDDEN,
    "403",
    lambda peers: peers.answering(
        403, {"error": {"code": "AuthorizationFailed", "message": "no authorization over scope"}}
    ),
)
_azure(E.SERVICE_UNAVAILABLE, "dead port", lambda peers: peers.dead)


@lambda made: add(E.CONFLICT, "container exists", made, "azure.core")
def _azure_exists(peers: Peers) -> NoReturn:
    from azure.core.exceptions import ResourceExistsError

    raise ResourceExistsError("The specified container already exists.\nRequestId:0\nErrorCode:ContainerAlreadyExists")


@lambda made: add(E.TIMEOUT, "no answer in time", made, "azure.core")
def _azure_timeout(peers: Peers) -> NoReturn:
    from azure.core.exceptions import ServiceResponseTimeoutError

    raise ServiceResponseTimeoutError(
        "HTTPSConnectionPool(host='acme.vault.azure.net', port=443): Read timed out. (read timeout=300)"
    )


_kind("cloud library")

# ---------------------------------------------------------------------------------------------------------------------
# HTTP clients and model APIs against real answers.


async def _httpx(peers: Peers, path: str, **settings: Any) -> None:
    import httpx

    async with httpx.AsyncClient(**settings) as client:
        (await client.post(peers.url(path), json={})).raise_for_status()


add(E.CONFLICT, "POST answered 409", lambda peers: _httpx(peers, "409"), "httpx")
add(E.SERVICE_UNAVAILABLE, "POST answered 501", lambda peers: _httpx(peers, "501"), "httpx")
add(E.SERVICE_UNAVAILABLE, "peer hangs up", lambda peers: _httpx(peers, "hangup"), "httpx")
add(E.TIMEOUT, "slow answer to a POST", lambda peers: _httpx(peers, "slow/1", timeout=0.1), "httpx")


def _requests(peers: Peers, path: str, **settings: Any) -> None:
    import requests

    requests.delete(peers.url(path), **settings).raise_for_status()


add(E.TIMEOUT, "DELETE answered 504", lambda peers: _requests(peers, "504"), "requests")
add(E.FORBIDDEN, "DELETE answered 403", lambda peers: _requests(peers, "403"), "requests")
add(E.SERVICE_UNAVAILABLE, "answer cut short", lambda peers: _requests(peers, "short"), "requests")
add(
    E.SERVICE_UNAVAILABLE,
    "TLS spoken to a plain port",
    lambda peers: __import__("requests").get(peers.http.replace("http:", "https:"), timeout=2),
    "requests",
)


async def _aiohttp(url: str, **settings: Any) -> None:
    import aiohttp

    async with aiohttp.ClientSession(**settings) as session, session.get(url, raise_for_status=True) as answer:
        await answer.read()


add(E.UNAUTHORIZED, "GET answered 401", lambda peers: _aiohttp(peers.url("401")), "aiohttp")
add(E.SERVICE_UNAVAILABLE, "GET on a dead port", lambda peers: _aiohttp(peers.dead), "aiohttp")
add(
    E.TIMEOUT,
    "GET with a total timeout",
    lambda peers: _aiohttp(peers.url("slow/1"), timeout=__import__("aiohttp").ClientTimeout(total=0.1)),
    "aiohttp",
)


@lambda made: add(E.SERVICE_UNAVAILABLE, "connection pool on a dead port", made, "urllib3")
def _urllib3(peers: Peers) -> None:
    import urllib3

    with urllib3.PoolManager(retries=False) as pool:
        pool.request("GET", peers.dead)


@lambda made: add(E.RATE_LIMITED, "urlopen answered 429", made)
def _urlopen(peers: Peers) -> None:
    import urllib.request

    urllib.request.urlopen(peers.url("429"), timeout=2)


async def _websocket(peers: Peers, path: str) -> None:
    from websockets.asyncio.client import connect

    async with connect(peers.url(path).replace("http:", "ws:"), open_timeout=2):
        pass


add(E.UNAUTHORIZED, "handshake answered 401", lambda peers: _websocket(peers, "401"), "websockets")


def _openai(url: str, **settings: Any) -> Any:
    import openai

    with openai.OpenAI(api_key="k", base_url=url, max_retries=0, **settings) as client:
        return client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "hi"}])


add(
    E.UNAUTHORIZED,
    "wrong key",
    lambda peers: _openai(
        peers.answering(401, {"error": {"message": "Incorrect API key provided: sk-***", "code": "invalid_api_key"}})
    ),
    "openai",
)
add(
    E.NOT_FOUND,
    "model that nobody has",
    lambda peers: _openai(
        peers.answering(
            404,
            {
                "error": {
                    "message": "The model `gpt-9` does not exist or you do not have access to it.",
                    "code": "model_not_found",
                }
            },
        )
    ),
    "openai",
)
add(E.TIMEOUT, "completion too slow", lambda peers: _openai(peers.url("slow/1"), timeout=0.1), "openai")


def _anthropic(url: str) -> Any:
    import anthropic

    with anthropic.Anthropic(api_key="k", base_url=url, max_retries=0) as client:
        return client.messages.create(
            model="claude-sonnet-4", max_tokens=8, messages=[{"role": "user", "content": "hi"}]
        )


add(
    E.SERVICE_UNAVAILABLE,
    "overloaded",
    lambda peers: _anthropic(
        peers.answering(529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    ),
    "anthropic",
)
add(
    E.FORBIDDEN,
    "key without the permission",
    lambda peers: _anthropic(
        peers.answering(
            403,
            {
                "type": "error",
                "error": {"type": "permission_error", "message": "Your API key does not have permission"},
            },
        )
    ),
    "anthropic",
)


def _elastic(peers: Peers, status: int, kind: str, reason: str) -> Any:
    from elasticsearch import Elasticsearch

    body = {"error": {"root_cause": [], "type": kind, "reason": reason}, "status": status}
    url = peers.answering(status, body, X_Elastic_Product="Elasticsearch")
    with Elasticsearch(url, max_retries=0, retry_on_status=()) as client:
        return client.get(index="logs", id="1")


add(
    E.NOT_FOUND,
    "index",
    lambda peers: _elastic(peers, 404, "index_not_found_exception", "no such index [logs]"),
    "elasticsearch",
)
add(
    E.CONFLICT,
    "version",
    lambda peers: _elastic(
        peers, 409, "version_conflict_engine_exception", "[1]: version conflict, current version [2] is higher"
    ),
    "elasticsearch",
)
add(
    E.RATE_LIMITED,
    "queue capacity",
    lambda peers: _elastic(
        peers, 429, "es_rejected_execution_exception", "rejected execution of coordinating operation"
    ),
    "elasticsearch",
)
add(
    E.UNAUTHORIZED,
    "security",
    lambda peers: _elastic(
        peers, 401, "security_exception", "missing authentication credentials for REST request [/logs/_doc/1]"
    ),
    "elasticsearch",
)


def _grpc(peers: Peers, status: str, seconds: float = 5) -> None:
    import grpc

    with grpc.insecure_channel(peers.grpc) as channel:
        channel.unary_unary("/bench/Ask")(status.encode(), timeout=seconds)


add(E.FORBIDDEN, "PERMISSION_DENIED", lambda peers: _grpc(peers, "PERMISSION_DENIED"), "grpc")
add(E.REQUEST_CANCELLED, "CANCELLED", lambda peers: _grpc(peers, "CANCELLED"), "grpc")
add(E.TIMEOUT, "deadline passed", lambda peers: _grpc(peers, "SLOW", 0.2), "grpc")
_kind("HTTP or gRPC client against a real answer")

# ---------------------------------------------------------------------------------------------------------------------
# Data stores.


def _sqlite(*statements: str) -> None:
    import contextlib
    import sqlite3

    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(
            "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, age INT CHECK (age >= 0))"
        )
        connection.execute("CREATE TABLE book (id INTEGER PRIMARY KEY, author INT REFERENCES author (id))")
        for statement in statements:
            connection.execute(statement)


add(
    E.CONFLICT,
    "sqlite3: upsert forgotten",
    lambda peers: _sqlite("INSERT INTO author (name) VALUES ('Eco')", "INSERT INTO author (name) VALUES ('Eco')"),
)
add(
    E.VALIDATION_ERROR,
    "sqlite3: negative age",
    lambda peers: _sqlite("INSERT INTO author (name, age) VALUES ('Eco', -1)"),
)
add(E.VALIDATION_ERROR, "sqlite3: book of nobody", lambda peers: _sqlite("INSERT INTO book (author) VALUES (99)"))
add(E.DATABASE_ERROR, "sqlite3: table of a migration that never ran", lambda peers: _sqlite("SELECT * FROM publisher"))


@lambda made: add(E.DATABASE_ERROR, "sqlite3: not a database at all", made)
def _not_a_database(peers: Peers) -> None:
    import sqlite3

    with tempfile.NamedTemporaryFile() as file:
        file.write(b"this is a text file, and a longer one than a header of a page" * 40)
        file.flush()
        connection = sqlite3.connect(file.name)
        try:
            connection.execute("SELECT * FROM sqlite_master")
        finally:
            connection.close()


def _sqlalchemy(statement: str, *, before: str = "SELECT 1") -> None:
    import sqlalchemy

    engine = sqlalchemy.create_engine("sqlite://")
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("CREATE TABLE tag (name TEXT NOT NULL PRIMARY KEY)"))
        connection.execute(sqlalchemy.text(before))
        connection.execute(sqlalchemy.text(statement))


add(E.VALIDATION_ERROR, "NOT NULL", lambda peers: _sqlalchemy("INSERT INTO tag VALUES (NULL)"), "sqlalchemy")
add(
    E.CONFLICT,
    "primary key",
    lambda peers: _sqlalchemy("INSERT INTO tag VALUES ('a')", before="INSERT INTO tag VALUES ('a')"),
    "sqlalchemy",
)
add(E.DATABASE_ERROR, "missing table", lambda peers: _sqlalchemy("DELETE FROM label"), "sqlalchemy")


@lambda made: add(E.NOT_FOUND, "one row wanted, none there", made, "sqlalchemy")
def _no_row(peers: Peers) -> None:
    import sqlalchemy

    with sqlalchemy.create_engine("sqlite://").connect() as connection:
        connection.execute(sqlalchemy.text("SELECT 1 WHERE 1 = 0")).one()


def _psycopg(peers: Peers, query: str, user: str = "u") -> None:
    import psycopg

    with psycopg.connect(
        f"host=127.0.0.1 port={peers.port('postgres')} user={user} dbname=d sslmode=disable", autocommit=True
    ) as connection:
        psycopg.ClientCursor(connection).execute(query.encode())


add(E.UNAUTHORIZED, "wrong password", lambda peers: _psycopg(peers, "", "wrong_password"), "psycopg")
add(E.FORBIDDEN, "privilege", lambda peers: _psycopg(peers, "42501 permission denied for table salaries"), "psycopg")
add(E.DATABASE_ERROR, "deadlock", lambda peers: _psycopg(peers, "40P01 deadlock detected"), "psycopg")
add(
    E.VALIDATION_ERROR,
    "foreign key",
    lambda peers: _psycopg(
        peers, '23503 insert or update on table "book" violates foreign key constraint "book_author_fkey"'
    ),
    "psycopg",
)


def _pymysql(peers: Peers, query: str, user: str = "u") -> None:
    import pymysql

    connection = pymysql.connect(host="127.0.0.1", port=peers.port("mysql"), user=user, password="p")
    try:
        connection.cursor().execute(query)
    finally:
        connection.close()


add(
    E.CONFLICT,
    "duplicate entry",
    lambda peers: _pymysql(peers, "1062 Duplicate entry 'eco' for key 'author.name'"),
    "pymysql",
)
add(
    E.DATABASE_ERROR,
    "lock wait",
    lambda peers: _pymysql(peers, "1205 Lock wait timeout exceeded; try restarting transaction"),
    "pymysql",
)
add(
    E.DATABASE_ERROR,
    "missing table",
    lambda peers: _pymysql(peers, "1146 Table 'shop.orders' doesn't exist"),
    "pymysql",
)


async def _asyncpg(peers: Peers) -> None:
    import asyncpg

    await asyncpg.connect(host="127.0.0.1", port=peers.dead_port, user="u", password="p", database="d", timeout=2)


add(E.SERVICE_UNAVAILABLE, "dead port", _asyncpg, "asyncpg")


def _redis(peers: Peers, key: str, *, port: int = 0, **settings: Any) -> None:
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    redis.Redis(port=port or peers.port("redis"), retry=Retry(NoBackoff(), 0), protocol=2, **settings).get(key)


add(E.SERVICE_UNAVAILABLE, "dead port", lambda peers: _redis(peers, "k", port=peers.dead_port), "redis")
add(E.TIMEOUT, "slow answer", lambda peers: _redis(peers, "slow", socket_timeout=0.2), "redis")
add(
    E.FORBIDDEN,
    "ACL",
    lambda peers: _redis(peers, "NOPERM this user has no permissions to run the 'get' command"),
    "redis",
)
add(
    E.UNAUTHORIZED,
    "password",
    lambda peers: _redis(peers, "WRONGPASS invalid username-password pair or user is disabled."),
    "redis",
)


def _mongo(peers: Peers, code: int, name: str, say: str) -> None:
    import pymongo

    client: Any = pymongo.MongoClient(
        "127.0.0.1", peers.port("mongo"), directConnection=True, retryReads=False, serverSelectionTimeoutMS=2000
    )
    try:
        client.shop.orders.find_one({"code": code, "name": name, "say": say})
    finally:
        client.close()


add(
    E.UNAUTHORIZED,
    "authentication",
    lambda peers: _mongo(peers, 18, "AuthenticationFailed", "Authentication failed."),
    "pymongo",
)
add(
    E.FORBIDDEN,
    "role",
    lambda peers: _mongo(peers, 13, "Unauthorized", 'not authorized on shop to execute command { find: "orders" }'),
    "pymongo",
)
add(
    E.TIMEOUT,
    "maxTimeMS",
    lambda peers: _mongo(peers, 50, "MaxTimeMSExpired", "operation exceeded time limit"),
    "pymongo",
)
_kind("data store")

# ---------------------------------------------------------------------------------------------------------------------
# The standard library and smaller libraries, on what the world gives them.


@lambda made: add(E.NOT_FOUND, "shutil: source that is not there", made)
def _copy(peers: Peers) -> None:
    import shutil

    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(f"{folder}/a", f"{folder}/b")


@lambda made: add(E.CONFLICT, "pathlib: exclusive creation", made)
def _exclusive(peers: Peers) -> None:
    from pathlib import Path

    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).open("x").close()


@lambda made: add(E.TIMEOUT, "subprocess: a formatter that hangs", made)
def _hanging(peers: Peers) -> None:
    subprocess.run(["sleep", "5"], timeout=0.1, check=True)


@lambda made: add(E.NOT_FOUND, "git: branch that nobody made", made)
def _git_branch(peers: Peers) -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "init", "-q", folder], check=True)
        ran = subprocess.run(["git", "-C", folder, "checkout", "nonesuch"], capture_output=True, text=True, check=False)
        if ran.returncode:
            raise GitError(f"git checkout failed: {ran.stderr.strip()}")


@lambda made: add(E.SERVICE_UNAVAILABLE, "git: remote on a dead port", made)
def _git_remote(peers: Peers) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(
            ["git", "clone", peers.dead + "x.git", folder], capture_output=True, text=True, check=False
        )
        if ran.returncode:
            raise RuntimeError(f"git clone failed ({ran.returncode}): {ran.stderr.strip()}")


@lambda made: add(E.SERVICE_UNAVAILABLE, "smtplib: relay that refuses", made)
def _smtp(peers: Peers) -> None:
    import smtplib

    smtplib.SMTP("127.0.0.1", peers.dead_port, timeout=2)


@lambda made: add(E.UNAUTHORIZED, "smtplib: 535", made)
def _smtp_login(peers: Peers) -> NoReturn:
    import smtplib

    raise smtplib.SMTPAuthenticationError(
        535, b"5.7.8 Username and Password not accepted. For more information, go to https://support.google.com"
    )


@lambda made: add(E.SERVICE_UNAVAILABLE, "smtplib: hung up", made)
def _smtp_gone(peers: Peers) -> NoReturn:
    import smtplib

    raise smtplib.SMTPServerDisconnected("Connection unexpectedly closed")


@lambda made: add(E.UNAUTHORIZED, "imaplib: login", made)
def _imap(peers: Peers) -> NoReturn:
    import imaplib

    raise imaplib.IMAP4.error(b"[AUTHENTICATIONFAILED] Invalid credentials (Failure)")


@lambda made: add(E.UNAUTHORIZED, "ftplib: 530", made)
def _ftp_login(peers: Peers) -> NoReturn:
    import ftplib

    raise ftplib.error_perm("530 Login incorrect.")


@lambda made: add(E.NOT_FOUND, "ftplib: 550", made)
def _ftp_file(peers: Peers) -> NoReturn:
    import ftplib

    raise ftplib.error_perm("550 /exports/today.csv: No such file or directory")


@lambda made: add(E.SERIALIZATION_ERROR, "pickle: cache file of something else", made)
def _pickle(peers: Peers) -> None:
    import pickle

    pickle.loads(b"\x80\x04\x95nonsense-not-a-frame")


add(E.SERIALIZATION_ERROR, "str.encode: name that Latin-1 lacks", lambda peers: "Łódź".encode("latin-1"))
add(E.SERIALIZATION_ERROR, "bytes.decode: half a character", lambda peers: b"caf\xc3".decode())
add(E.VALIDATION_ERROR, "ipaddress: 5 parts", lambda peers: __import__("ipaddress").ip_address("10.0.0.1.7"))
add(E.VALIDATION_ERROR, "uuid: from a title", lambda peers: __import__("uuid").UUID("quarterly report"))
add(E.VALIDATION_ERROR, "datetime: month 13", lambda peers: __import__("datetime").date.fromisoformat("2024-13-01"))
add(
    E.VALIDATION_ERROR,
    "enum: colour that is none",
    lambda peers: __import__("enum").Enum("Colour", {"RED": "red", "BLUE": "blue"})("mauve"),
)
add(
    E.VALIDATION_ERROR,
    "email without a domain",
    lambda peers: __import__("email_validator").validate_email("bob@"),
    "email_validator",
)
add(
    E.VALIDATION_ERROR,
    "date in words",
    lambda peers: __import__("dateutil.parser").parser.parse("the day after"),
    "dateutil",
)
add(
    E.VALIDATION_ERROR,
    "value outside the enum of a schema",
    lambda peers: __import__("jsonschema").validate(
        {"unit": "stone"}, {"properties": {"unit": {"enum": ["kg", "lb"]}}}
    ),
    "jsonschema",
)


@lambda made: add(E.VALIDATION_ERROR, "settings of a request that do not agree", made, "pydantic")
def _pydantic(peers: Peers) -> None:
    import pydantic

    pydantic.TypeAdapter(list[pydantic.PositiveInt]).validate_python([1, 0, "x"])


def _jwt(claims: dict[str, Any], key: str = "a" * 32, **checks: Any) -> None:
    import jwt

    jwt.decode(jwt.encode(claims, "a" * 32, "HS256"), key, ["HS256"], **checks)


add(E.UNAUTHORIZED, "expired", lambda peers: _jwt({"exp": 1}), "jwt")
add(E.UNAUTHORIZED, "signed by somebody else", lambda peers: _jwt({"sub": "a"}, "b" * 32), "jwt")


@lambda made: add(E.SERVICE_UNAVAILABLE, "no server answers the question", made, "dns")
def _dns(peers: Peers) -> NoReturn:
    import dns.resolver

    raise dns.resolver.NoNameservers(request=dns.message.make_query("api.acme.test", "A"), errors=[])


add(
    E.SERVICE_UNAVAILABLE,
    "socket: name that nobody has",
    lambda peers: __import__("socket").getaddrinfo("nosuch.invalid", 443),
)


@lambda made: add(E.TIMEOUT, "socket: peer that says nothing", made)
def _silent(peers: Peers) -> None:
    import socket

    with socket.create_connection(("127.0.0.1", peers.port("silent")), timeout=0.2) as connection:
        connection.recv(1)


@lambda made: add(E.TIMEOUT, "fail_after", made, "anyio")
async def _fail_after(peers: Peers) -> None:
    import anyio

    with anyio.fail_after(0.01):
        await anyio.sleep(1)


@lambda made: add(E.REQUEST_CANCELLED, "asyncio: task cancelled from outside", made)
async def _cancelled(peers: Peers) -> None:
    import asyncio

    task = asyncio.ensure_future(asyncio.sleep(1))
    task.cancel("the client went away")
    await task


@lambda made: add(E.REQUEST_CANCELLED, "concurrent.futures: future cancelled", made)
def _future(peers: Peers) -> None:
    from concurrent.futures import Future

    future: Future[int] = Future()
    future.cancel()
    future.result()


@lambda made: add(E.REQUEST_CANCELLED, "trio: scope of the caller cancelled", made, "trio")
def _trio(peers: Peers) -> None:
    import trio

    kept: list[BaseException] = []

    async def main() -> None:
        with trio.CancelScope() as scope:
            scope.cancel()
            try:
                await trio.sleep(1)
            except BaseException as failure:
                kept.append(failure)
                raise

    trio.run(main)
    raise kept[0]


@lambda made: add(E.CONFIGURATION_ERROR, "environment variable that does not parse", made, "pydantic_settings")
def _settings(peers: Peers) -> None:
    import pydantic_settings

    raise pydantic_settings.SettingsError('error parsing value for field "ports" from source "EnvSettingsSource"')


@lambda made: add(E.METHOD_NOT_FOUND, "peer without the method", made, "mcp")
def _mcp_method(peers: Peers) -> NoReturn:
    from mcp.shared.exceptions import MCPError

    raise MCPError(-32601, "Method not found: completion/complete")


@lambda made: add(E.METHOD_NOT_FOUND, "xmlrpc: procedure that nobody serves", made)
def _xmlrpc(peers: Peers) -> NoReturn:
    import xmlrpc.client

    raise xmlrpc.client.Fault(-32601, "server error. requested method not found")


_kind("standard library or a smaller library")

# ---------------------------------------------------------------------------------------------------------------------
# Wrappers.


def _wrapped(outside: BaseException, inside: BaseException, *, suppress: bool = False) -> NoReturn:
    try:
        raise inside
    except BaseException as cause:
        if suppress:
            raise outside from None
        raise outside from cause


@lambda made: add(E.TIMEOUT, "tool error around a connect timeout", made, "fastmcp")
def _tool_timeout(peers: Peers) -> None:
    import httpx
    from fastmcp.exceptions import ToolError

    _wrapped(ToolError("Error calling tool 'list_issues'"), httpx.ConnectTimeout("timed out"))


@lambda made: add(E.RATE_LIMITED, "retries used up on 429", made, "tenacity")
def _retries(peers: Peers) -> None:
    import requests
    import tenacity

    def call() -> None:
        requests.get(peers.url("429"), timeout=2).raise_for_status()

    tenacity.Retrying(stop=tenacity.stop_after_attempt(2), wait=tenacity.wait_none())(call)


add(
    E.FORBIDDEN,
    "vague outside, refusal inside",
    lambda peers: _wrapped(UpstreamError("Could not save the sheet"), PermissionError(13, "Permission denied")),
)
add(
    E.INTERNAL_ERROR,
    "vague outside, cause suppressed",
    lambda peers: _wrapped(
        RuntimeError("Export failed"), FileNotFoundError(2, "No such file or directory"), suppress=True
    ),
)
add(
    E.SERVICE_UNAVAILABLE,
    "group of refused connections",
    lambda peers: _throw(
        ExceptionGroup(
            "unhandled errors in a TaskGroup (2 sub-exceptions)",
            [ConnectionRefusedError(111, "refused"), ConnectionResetError(104, "reset")],
        )
    ),
)
add(
    E.INTERNAL_ERROR,
    "group that does not agree",
    lambda peers: _throw(
        ExceptionGroup("2 of 5 uploads failed", [TimeoutError("late"), PermissionError(13, "Permission denied")])
    ),
)
_kind("wrapper")

# ---------------------------------------------------------------------------------------------------------------------
# Mistakes in the program, whatever their message resembles.


def _bug(name: str, make: Callable[[Peers], Any], library: str = "") -> None:
    add(E.INTERNAL_ERROR, name, make, library, bug=True)


def _mistake(name: str) -> Callable[[Callable[[Peers], Any]], None]:
    return lambda make: _bug(name, make)


class _Answer:
    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


_NOTHING: Any = None
_bug("KeyError: answer without 'timeout'", lambda peers: {"retries": 3}["timeout"])  # type: ignore[index]
_bug("KeyError: registry of handlers", lambda peers: _throw(KeyError("Tool 'search' not found")))
_bug("KeyError: status table without 403", lambda peers: {200: "ok"}[403])
_bug("KeyError: template without a value", lambda peers: __import__("string").Template("$invalid_token").substitute())
_bug("IndexError: first of nothing", lambda peers: "".split()[0])
_bug("IndexError: as a sentence", lambda peers: _throw(IndexError("no such row: result set not found")))
_bug("AttributeError: None has no permission_denied", lambda peers: _NOTHING.permission_denied)
_bug("AttributeError: name of a method of requests", lambda peers: _Answer(status=401).unauthorized())
_bug("AttributeError: module", lambda peers: __import__("json").ConnectionError)
_bug("AttributeError: format", lambda peers: "{user.access_token}".format(user=_NOTHING))


@_mistake("NameError: constant never imported")
def _name(peers: Peers) -> Any:
    return rate_limit_exceeded  # type: ignore[name-defined]  # noqa: F821


@_mistake("UnboundLocalError: connection")
def _unbound(peers: Peers) -> None:
    if peers is None:
        connection_refused = 1
    print(connection_refused)


@_mistake("AssertionError: answer as expected")
def _assertion(peers: Peers) -> None:
    status = 503
    assert status == 200, f"HTTP {status} Service Unavailable"


_bug("AssertionError: an invariant in words", lambda peers: _throw(AssertionError("user does not exist")))
_bug(
    "TypeError: datetime into JSON",
    lambda peers: __import__("json").dumps({"when": __import__("datetime").datetime(2024, 1, 1)}),
)


def _needs(timeout: float) -> None:
    del timeout


_bug("TypeError: argument missing", lambda peers: _needs())  # type: ignore[call-arg]
_bug("TypeError: argument unknown", lambda peers: _needs(timeout=1, unauthorized=True))  # type: ignore[call-arg]
_bug("TypeError: unhashable key", lambda peers: {["conflict"]: 1})  # type: ignore[dict-item]
_bug("TypeError: None is no number", lambda peers: _NOTHING + 30)


@_mistake("TypeError: await forgotten")
async def _await(peers: Peers) -> None:
    async def fetch() -> dict[str, str]:
        return {}

    coroutine: Any = fetch()
    try:
        coroutine["not_found"]
    finally:
        coroutine.close()


@_mistake("RecursionError: walk over a cycle")
def _recursion(peers: Peers) -> None:
    loop: list[Any] = []
    loop.append(loop)

    def flatten(value: list[Any]) -> None:
        for item in value:
            flatten(item)

    flatten(loop)


@_mistake("RuntimeError: dictionary changed in a loop")
def _changed(peers: Peers) -> None:
    sessions = {"expired": 1}
    for name in sessions:
        sessions[name + " token"] = 2


@_mistake("RuntimeError: asyncio.run in a handler")
async def _nested(peers: Peers) -> None:
    import asyncio

    coroutine = asyncio.sleep(0)
    try:
        asyncio.run(coroutine)
    finally:
        coroutine.close()


@_mistake("RuntimeError: lock released twice")
async def _lock(peers: Peers) -> None:
    import asyncio

    asyncio.Lock().release()


@_mistake("RuntimeError: StopIteration in a generator")
def _stop(peers: Peers) -> None:
    def pages() -> Any:
        yield next(iter(()))

    list(pages())


@_mistake("RuntimeError: thread started twice")
def _twice(peers: Peers) -> None:
    import threading

    thread = threading.Thread(target=str)
    thread.start()
    thread.join()
    thread.start()


@_mistake("InvalidStateError: result of a future asked for too early")
async def _early(peers: Peers) -> None:
    import asyncio

    asyncio.get_running_loop().create_future().result()


_bug("LookupError: context variable never set", lambda peers: __import__("contextvars").ContextVar("request_id").get())
_bug("ZeroDivisionError: mean of no results", lambda peers: sum([]) / len([]))


@_mistake("FrozenInstanceError: field of a frozen object")
def _frozen(peers: Peers) -> None:
    import dataclasses

    setattr(dataclasses.make_dataclass("Session", ["token_expired"], frozen=True)(False), "token_expired", True)


_bug("response read before it was", lambda peers: _throw(__import__("httpx").ResponseNotRead()), "httpx")


@lambda made: _bug("client used after it was closed", made, "httpx")
def _closed(peers: Peers) -> None:
    import httpx

    client = httpx.Client()
    client.close()
    client.get(peers.url("200"))


@lambda made: _bug("model that names a type which is nowhere", made, "pydantic")
def _undefined(peers: Peers) -> None:
    import pydantic

    pydantic.create_model("Order", item=("Missing", ...))(item=1)


@lambda made: _bug("session given a plain dictionary", made, "sqlalchemy")
def _unmapped(peers: Peers) -> None:
    from sqlalchemy.orm import Session

    with Session() as session:
        session.add({"id": 1})


_bug(
    "AttributeError while a refused connection was handled",
    lambda peers: _wrapped(
        AttributeError("'ConnectError' object has no attribute 'status_code'"),
        ConnectionRefusedError(111, "Connection refused"),
    ),
)
_bug(
    "vague outside, KeyError inside",
    lambda peers: _wrapped(RuntimeError("Failed to build the invoice"), KeyError("customer")),
)
_bug(
    "group of programmer errors",
    lambda peers: _throw(
        ExceptionGroup(
            "unhandled errors in a TaskGroup (2 sub-exceptions)",
            [TypeError("invalid token: expected str"), TypeError("request timed out must be float")],
        )
    ),
)
_kind("programmer error")
