"""Exceptions of the AWS, Google and Azure libraries."""

# The cases do on purpose what the rules forbid, each in one line.
# ruff: noqa: ARG001, ARG005
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from bench.classify.case import Case, case
from mcpcore.contract.codes import ErrorCode as E

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.classify.servers import Peers


# AWS, Google, Azure by their own types.


def _aws(label: E, operation: str, code: str, message: str, status: int) -> Case:
    def make(peers: Peers) -> NoReturn:
        from botocore.exceptions import ClientError

        raise ClientError(
            {
                "Error": {"Code": code, "Message": message},
                "ResponseMetadata": {"HTTPStatusCode": status, "RetryAttempts": 4},
            },
            operation,
        )

    return case(label, f"{operation} {code}", make, "botocore")


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


def _google(label: E, kind: str, message: str) -> Case:
    def make(peers: Peers) -> NoReturn:
        from google.api_core import exceptions

        raise getattr(exceptions, kind)(message)

    return case(label, f"{kind}: {message[:60]}", make, "google.api_core")


def _refresh(peers: Peers) -> NoReturn:
    from google.auth.exceptions import RefreshError

    raise RefreshError("invalid_grant: Token has been expired or revoked.", {"error": "invalid_grant"})


def _azure(label: E, name: str, path: Callable[[Peers], str]) -> Case:
    def make(peers: Peers) -> None:
        from azure.core import PipelineClient
        from azure.core.pipeline.policies import RetryPolicy
        from azure.core.rest import HttpRequest

        client: Any = PipelineClient("http://127.0.0.1", policies=[RetryPolicy(retry_total=0)])
        with client:
            client.send_request(HttpRequest("GET", path(peers))).raise_for_status()

    return case(label, name, make, "azure.core")


def _azure_exists(peers: Peers) -> NoReturn:
    from azure.core.exceptions import ResourceExistsError

    raise ResourceExistsError("The specified container already exists.\nRequestId:0\nErrorCode:ContainerAlreadyExists")


def _azure_timeout(peers: Peers) -> NoReturn:
    from azure.core.exceptions import ServiceResponseTimeoutError

    raise ServiceResponseTimeoutError(
        "HTTPSConnectionPool(host='acme.vault.azure.net', port=443): Read timed out. (read timeout=300)"
    )


CASES: list[Case] = [
    _aws(
        E.NOT_FOUND,
        "GetQueueUrl",
        "AWS.SimpleQueueService.NonExistentQueue",
        "The specified queue does not exist for this wsdl version.",
        400,
    ),
    _aws(E.CONFLICT, "CreateBucket", "BucketAlreadyExists", "The requested bucket name is not available.", 409),
    _aws(E.CONFLICT, "CreateRole", "EntityAlreadyExists", "Role with name mcp-runner already exists.", 409),
    _aws(
        E.RATE_LIMITED, "InvokeModel", "ThrottlingException", "Too many tokens, please wait before trying again.", 429
    ),
    _aws(E.RATE_LIMITED, "DescribeInstances", "RequestLimitExceeded", "Request limit exceeded.", 503),
    _aws(
        E.UNAUTHORIZED,
        "GetCallerIdentity",
        "ExpiredToken",
        "The security token included in the request is expired",
        403,
    ),
    _aws(
        E.UNAUTHORIZED,
        "ListFunctions",
        "UnrecognizedClientException",
        "The security token included in the request is invalid.",
        403,
    ),
    _aws(
        E.FORBIDDEN,
        "RunInstances",
        "UnauthorizedOperation",
        "You are not authorized to perform this operation. Encoded authorization failure message: 4tUYc",
        403,
    ),
    _aws(
        E.TIMEOUT,
        "PutObject",
        "RequestTimeout",
        "Your socket connection to the server was not read from or written to within the timeout period.",
        400,
    ),
    _aws(
        E.SERVICE_UNAVAILABLE,
        "GetItem",
        "InternalServerError",
        "The request processing has failed because of an unknown error",
        500,
    ),
    _aws(
        E.NOT_FOUND, "DescribeInstances", "InvalidInstanceID.NotFound", "The instance ID 'i-0abc' does not exist", 400
    ),
    case(E.CONFIGURATION_ERROR, "client without a region", _no_region, "boto3"),
    case(E.SERVICE_UNAVAILABLE, "SQS on a dead port", lambda peers: _sqs(peers.dead).list_queues(), "boto3"),
    case(
        E.TIMEOUT,
        "SQS that is silent",
        lambda peers: _sqs(peers.url("slow/2"), read_timeout=0.2).list_queues(),
        "boto3",
    ),
    case(
        E.CONFIGURATION_ERROR,
        "profile that nobody wrote",
        lambda peers: __import__("boto3").Session(profile_name="no-such-profile"),
        "boto3",
    ),
    _google(E.NOT_FOUND, "NotFound", "Secret [projects/41/secrets/api-key] not found or has no versions."),
    _google(E.CONFLICT, "AlreadyExists", "Topic already exists in the project (resource=orders)."),
    _google(E.FORBIDDEN, "PermissionDenied", "Permission 'bigquery.jobs.create' denied on project acme"),
    _google(
        E.RATE_LIMITED,
        "ResourceExhausted",
        "Quota exceeded for aiplatform.googleapis.com/generate_content_requests_per_minute",
    ),
    _google(E.SERVICE_UNAVAILABLE, "BadGateway", "GET https://bigquery.googleapis.com/bigquery/v2/projects: upstream"),
    _google(E.TIMEOUT, "GatewayTimeout", "POST https://storage.googleapis.com/upload: late"),
    case(E.UNAUTHORIZED, "refresh refused", _refresh, "google.auth"),
    _azure(E.RATE_LIMITED, "429", lambda peers: peers.url("429?after=0")),
    _azure(
        E.FORBIDDEN,
        "403",
        lambda peers: peers.answering(
            403, {"error": {"code": "AuthorizationFailed", "message": "no authorization over scope"}}
        ),
    ),
    _azure(E.SERVICE_UNAVAILABLE, "dead port", lambda peers: peers.dead),
    case(E.CONFLICT, "container exists", _azure_exists, "azure.core"),
    case(E.TIMEOUT, "no answer in time", _azure_timeout, "azure.core"),
]
