"""Sentences of tools, raised with exceptions of the application's own."""

# The cases do on purpose what the rules forbid, each in one line.
# ruff: noqa: E501
from __future__ import annotations

from bench.classify.case import Case, said
from bench.classify.raising import (
    BatchJobError,
    GitError,
    IntegrationError,
    SyncError,
    ToolExecutionError,
    UpstreamError,
    WorkflowError,
)
from bench.classify.sets.service_clients import SSHException
from mcpcore.contract.codes import ErrorCode as E

CASES: list[Case] = [
    # Exceptions as applications define them.
    # Sentences of servers: something does not exist.
    said(E.NOT_FOUND, RuntimeError, "Image tag v1.4.2 not found in repository after push operation"),
    said(E.NOT_FOUND, ToolExecutionError, "Segment prod not found in core network core-network-0a1b2c3d."),
    said(E.NOT_FOUND, Exception, "There is no user registered with the email address bob@example.com"),
    said(E.NOT_FOUND, RuntimeError, "Could not find a workbook with the id 41"),
    said(E.NOT_FOUND, UpstreamError, "Collection `embeddings` doesn't exist!"),
    said(
        E.NOT_FOUND,
        IntegrationError,
        "The specified blob does not exist. RequestId:7f0c1b52-101e-004d-7d2a-1f5b0e000000",
    ),
    said(E.NOT_FOUND, GitError, "fatal: repository 'https://github.com/acme/nonesuch.git/' not found"),
    said(E.NOT_FOUND, Exception, "Unable to locate Lambda function 'resize-images' in eu-west-1"),
    said(E.NOT_FOUND, Exception, "no such host group: Linux servers"),
    said(E.NOT_FOUND, IntegrationError, "404 page not found"),
    # Something is in the way.
    said(E.CONFLICT, Exception, "A pull request already exists for acme:feature/login."),
    said(E.CONFLICT, UpstreamError, "Instance i-0abc is already running"),
    said(
        E.CONFLICT,
        GitError,
        "Auto-merging README.md\nCONFLICT (content): Merge conflict in README.md\nAutomatic merge failed; fix conflicts and then commit the result.",
    ),
    said(E.CONFLICT, IntegrationError, 'Conflict. The container name "/web" is already in use by container "3f1c2a".'),
    said(E.CONFLICT, Exception, "That username is already taken"),
    said(E.CONFLICT, WorkflowError, "An invoice with number INV-2031 exists already"),
    said(E.CONFLICT, Exception, "The document was modified by another user since you opened it. Reload and try again."),
    # A limit of calls.
    said(
        E.RATE_LIMITED,
        UpstreamError,
        "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
    ),
    said(E.RATE_LIMITED, Exception, "Slack API rate limit"),
    said(E.RATE_LIMITED, Exception, "Daily quota exceeded for project acme-maps; resets at midnight Pacific time"),
    said(
        E.RATE_LIMITED,
        IntegrationError,
        "toomanyrequests: You have reached your pull rate limit. You may increase the limit by authenticating and upgrading.",
    ),
    said(E.RATE_LIMITED, RuntimeError, "Too many requests to the geocoder, slow down"),
    said(E.RATE_LIMITED, Exception, "Alpha Vantage: our standard API rate limit is 25 requests per day"),
    # Time ran out.
    said(E.TIMEOUT, Exception, "Query timed out"),
    said(E.TIMEOUT, Exception, "PagerDuty webhook timeout"),
    said(E.TIMEOUT, RuntimeError, "Athena query 9f2d did not complete within 300 seconds"),
    said(
        E.TIMEOUT,
        Exception,
        'page.goto: Timeout 30000ms exceeded.\nCall log:\n  - navigating to "https://example.com/", waiting until "load"',
    ),
    said(E.TIMEOUT, BatchJobError, "Gave up waiting for translation job tj-88 after 120s"),
    said(E.TIMEOUT, UpstreamError, "etcdserver: request timed out"),
    said(E.TIMEOUT, RuntimeError, "The operation took too long and was stopped after 60 seconds"),
    said(E.TIMEOUT, Exception, "Deadline of 20s exceeded while waiting for the browser"),
    said(E.TIMEOUT, SSHException, "Timeout opening channel."),
    # Not allowed.
    said(E.FORBIDDEN, Exception, "You do not have permission to modify this payment method"),
    said(E.FORBIDDEN, Exception, "Access denied - path outside allowed directories: /etc/shadow not in /home/app/data"),
    said(E.FORBIDDEN, ToolExecutionError, "User bob lacks the 'deploy' permission on project apollo"),
    said(E.FORBIDDEN, UpstreamError, "Resource not accessible by integration"),
    said(E.FORBIDDEN, IntegrationError, "Must have admin rights to Repository."),
    said(E.FORBIDDEN, Exception, "Only the owner of a board may delete it"),
    said(E.FORBIDDEN, Exception, "insufficient privileges to read mailbox finance@example.com"),
    # Who are you.
    said(E.UNAUTHORIZED, RuntimeError, "Bad credentials"),
    said(E.UNAUTHORIZED, Exception, "Your session has expired. Please log in again."),
    said(E.UNAUTHORIZED, IntegrationError, "Client must be authenticated to access this resource."),
    said(E.UNAUTHORIZED, GitError, "fatal: Authentication failed for 'https://github.com/acme/private.git/'"),
    said(E.UNAUTHORIZED, Exception, "OAuth error: invalid_token"),
    said(E.UNAUTHORIZED, Exception, "Login failed: wrong username or password"),
    said(E.UNAUTHORIZED, SyncError, "Refresh token is no longer valid; reconnect the Google account"),
    said(E.UNAUTHORIZED, ToolExecutionError, "Not authenticated. Run the login tool first."),
    # A service behind is away.
    said(E.SERVICE_UNAVAILABLE, RuntimeError, "backend unavailable"),
    said(
        E.SERVICE_UNAVAILABLE,
        UpstreamError,
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
    ),
    said(E.SERVICE_UNAVAILABLE, Exception, "Lost connection to MQTT broker"),
    said(
        E.SERVICE_UNAVAILABLE,
        IntegrationError,
        "upstream connect error or disconnect/reset before headers. reset reason: connection failure",
    ),
    said(E.SERVICE_UNAVAILABLE, Exception, "no healthy upstream"),
    said(E.SERVICE_UNAVAILABLE, SyncError, "Could not reach the Jira instance at https://acme.atlassian.net"),
    said(E.SERVICE_UNAVAILABLE, RuntimeError, "Failed to connect to Supabase: [Errno 111] Connection refused"),
    said(E.SERVICE_UNAVAILABLE, Exception, "API call failed with status 502: <html><title>Bad Gateway</title></html>"),
    said(E.SERVICE_UNAVAILABLE, Exception, "GitLab is down for maintenance, please check back later"),
    said(E.SERVICE_UNAVAILABLE, WorkflowError, "circuit breaker is open for payments-api"),
    said(
        E.SERVICE_UNAVAILABLE,
        GitError,
        "fatal: unable to access 'https://git.acme.test/web.git/': Could not resolve host: git.acme.test",
    ),
    said(E.SERVICE_UNAVAILABLE, Exception, "The weather service is temporarily offline"),
    # The input breaks a rule.
    said(E.VALIDATION_ERROR, ValueError, "formality must be 'FORMAL' or 'INFORMAL'"),
    said(E.VALIDATION_ERROR, ToolExecutionError, "max_tokens must be an integer, got 'many'"),
    said(E.VALIDATION_ERROR, Exception, "'lagos' is not a valid timezone"),
    said(E.VALIDATION_ERROR, RuntimeError, "Invalid email address: bob@@example"),
    said(
        E.VALIDATION_ERROR,
        UpstreamError,
        "body failed validation: body.parent should be defined, instead was `undefined`.",
    ),
    said(E.VALIDATION_ERROR, Exception, "Field 'priority' is required"),
    said(E.VALIDATION_ERROR, Exception, "Invalid date format, expected YYYY-MM-DD"),
    # The server was set up wrongly, or did not come up.
    said(
        E.CONFIGURATION_ERROR,
        Exception,
        "Reddit API credentials not configured. Please add REDDIT_CLIENT_ID and REDDIT_CLIENT_SECRET to your .env file.",
    ),
    said(E.CONFIGURATION_ERROR, SyncError, "Missing configuration: NEO4J_URI"),
    said(E.CONFIGURATION_ERROR, IntegrationError, "MONITORING_ENDPOINT is not configured on this server"),
    said(E.INITIALIZATION_FAILED, Exception, "Initialization of the embedding model failed"),
    # The store.
    said(E.DATABASE_ERROR, Exception, "ORA-00942: table or view does not exist"),
    said(E.DATABASE_ERROR, RuntimeError, 'relation "orders_2024" does not exist\nLINE 1: SELECT * FROM orders_2024'),
    said(E.DATABASE_ERROR, Exception, "database disk image is malformed"),
    said(
        E.DATABASE_ERROR,
        WorkflowError,
        "Transaction (Process ID 61) was deadlocked on lock resources with another process and has been chosen as the deadlock victim.",
    ),
    # Called off.
    said(E.REQUEST_CANCELLED, Exception, "Request was cancelled by the client"),
    said(E.REQUEST_CANCELLED, RuntimeError, "Operation cancelled by user"),
    said(E.REQUEST_CANCELLED, BatchJobError, "The export was canceled"),
    # Bytes that cannot be written or read.
    said(E.SERIALIZATION_ERROR, RuntimeError, "Failed to serialize the report to JSON"),
    said(E.SERIALIZATION_ERROR, IntegrationError, "Could not deserialize Avro record: schema fingerprint differs"),
    # Sentences that say nothing, or whose words and figures mean something else.
    *(
        said(E.INTERNAL_ERROR, Exception if len(_sentence) % 2 else RuntimeError, _sentence)
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
        )
    ),
    said(E.INTERNAL_ERROR, WorkflowError, "Step 'collect' of workflow nightly-digest ended in state FAILED"),
]
