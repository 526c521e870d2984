"""Sentences of services, clients and servers, labelled before `classify` was asked, and split in two by their text.

The tables were written for the first half; the second was asked once, afterwards. They are written in the manner of
clouds, forges, chats, brokers, databases and tools of the command line; where a protocol or a database has a short
sentence of its own for a failure, it is that one. Longer ones were put into words of our own later, so that the half
a sentence belongs to now need not be the one that it belonged to then.
"""

from __future__ import annotations

import zlib

from bench.classify.case import Cases
from bench.classify.sets.sentences import listed, says
from mcpcore.codes import ErrorCode as C

CASES = Cases(held_back=True)

SENTENCES = r"""
== NOT_FOUND
AWS profile 'prod' not found
No flow logs found for this gateway
The address was not found in any region
npx command not found. Install Node.js and try again.
No book titled 'Ubik' in the catalog.
Unknown resource: notes://7
Unknown prompt: greet
Tool 'resize' version '2' not found
Authorization code not found
Ref "e14" not found: take another snapshot first
Terminology 'legal' does not exist in this account
No such password!
no file could be deleted because none matched report.pdf
The specified key does not exist.
The specified bucket does not exist
An error occurred (ResourceNotFoundException) when calling GetItem: no such table
Stack with id prod-vpc does not exist
Requested entity was not found.
Cluster 'web' could not be located in region eu-west-1
No such customer: 'cus_123'
404 Project Not Found
channel_not_found
Could not find a page with the id 59833787; is it shared with the integration?
The issue does not exist, or it is hidden from you
The requested resource /2010-04-01/Accounts was not found
pods "web-7d4b" not found
repository does not exist or may require 'docker login'
pathspec 'feature/x' did not match any file(s) known to git
fatal: couldn't find remote ref refs/heads/topic
remote: Repository not found.
Unknown topic or partition: orders
index_not_found_exception: no such index [logs-2024]
No document matched the filter {'_id': 7}
Mailbox doesn't exist: Archive/2020
No such container: web-1
manifest for nginx:9.99 not found: manifest unknown
Model 'gpt-9' does not exist, or is not open to you
No mapping found for user id 31
There is no user registered under that e-mail address
We could not find any flights matching your search
Nothing found for 'xyzzy'
Sensor 12 is unknown
Customer record is missing
Invoice INV-9 has been deleted
Playlist no longer exists
Cannot locate the device 'kitchen'
Failed to locate chart 'sales'
unable to find image 'web:latest' locally
No tasks were found in project Apollo
Employee with number 42 doesn't exist
The parcel you are looking for isn't here
nonexistent workspace: dev
user 'ada' is not registered
No route matches [GET] "/widgets"
No subscription found for this customer
Template missing: welcome.html
The link you followed has expired or the page was removed
account unknown
message 7 not in thread 3
path does not exist: /data/in
No entry for key 'theme'
Contact could not be retrieved because it does not exist
cannot find symbol table for module x
Section "Costs" is not present in the document
no version of package left-pad satisfies ^9
Requested range of events returned no results
The city "Atlantis" isn't in our database
Unrecognized city: Atlantis
== VALIDATION_ERROR
Source and target languages cannot be the same
Text length (20000) exceeds maximum allowed length (10000)
Asset model description cannot exceed 2048 characters
Terminology name exceeds maximum length of 256
expected int, got bool: True
Invalid filter: colour. Must be one of: name, size
Route type not valid: only PROPAGATED or STATIC is accepted
Workflow id is required
Query is required
Please provide a request token to track the request
Invalid branch name: '-x' - cannot start with '-'
Path is not a directory: /etc/hosts
Path is a directory, not a file: /etc
Count must be between 1 and 100
URL must have a non-root path
The provided command is empty
Number of batch commands exceeds the maximum limit of 20.
Template contains more than one multi-segment variable
Input must be a dictionary
Data model must contain at least one table
Data model contains duplicate table names: a, b
KeyType must be 'HASH' or 'RANGE'
name must contain only letters, digits and underscores
Both start and end must be specified
Label must not start or end with a hyphen
timestamp too small (before year 1)
special characters are not allowed
'x y' is not a valid host or port
1 validation error: value 'x' at 'name' failed to satisfy constraint: length must be over 3
Parameter values were invalid: the item has no key 'id'
Invalid type for parameter Bucket, value: 3
Amount must be at least $0.50 usd
Your card number is incorrect.
Validation Failed: title can't be blank
the body failed validation: body.parent should be defined
invalid_blocks: no more than 50 items allowed
The 'To' number +1555 is not a valid phone number.
Field 'priority' cannot be set on this screen
Required fields are missing: [LastName]
INVALID_FIELD: No such column 'Naem' on entity 'Account'
spec.replicas: Invalid value: -1: must be greater than or equal to 0
Unable to parse date "tomorrowish"
Failed to parse cron expression '61 * * * *'
Cannot query field "nmae" on type "User".
Variable "$id" of required type "ID!" was not provided.
failed to parse date field [x] with format [yyyy]
mapper_parsing_exception: failed to parse field [age] of type [long]
Data too long for column 'name' at row 1
invalid input syntax for type integer: "abc"
value too long for type character varying(10)
null value in column "name" violates not-null constraint
Document failed validation
The maximum context length is 8192 tokens, and these messages have 9000
max_tokens is too large: 99999
messages: at least one message is required
Unsupported image format: bmp
Start date must come before end date
End time has to be after start time
Latitude out of bounds: 200
Too many items in cart: at most 50 are accepted
The e-mail address is badly formed
Passwords do not match
Password must contain a digit
Bad value for --limit
'size' has to be one of small, medium, large
'unit' should be either 'c' or 'f'
Unsupported unit: furlong
No query given
No files provided
Neither id nor name was given
Specify either 'id' or 'name', not both
id and name are mutually exclusive
At least one recipient is required
You must supply a title
Missing argument: path
Missing 'device_code' in payload
Argument 'depth' needs to be a positive integer
limit may not exceed 500
page size cannot be larger than 100
quantity can't be negative
Too few points for a polygon
Unexpected field 'colour' in filter
Unknown sort order: sideways
Unrecognised option '--fast'
not a number: abc
'abc' is not an integer
'31-02-2024' isn't a date
Expected an ISO 8601 date but received 'soon'
The value of 'age' is below the minimum of 18
Title exceeds 255 characters
cannot parse '12h60' as a duration
Could not interpret '5 apples' as an amount
Malformed SKU 'xx-'
Unsafe characters in file name
Path traversal detected: ../../etc/passwd
Only SELECT statements are supported
Query must start with SELECT
The request body is empty
Empty search term
only http and https URLs are supported
File type .exe is not accepted
attachments larger than 25 MB cannot be sent
duplicate ids in request: 3, 3
Currency 'XYZ' is not one of USD, EUR
month must be YYYY-MM
Nothing to update: give at least one field
Can't convert 'ten' to a number
Sum of weights must equal 1
== UNAUTHORIZED
Invalid token audience
Invalid or expired request state
Token has expired
No refresh token available
Missing authorization header
Bad credentials
Current password is incorrect
Incorrect username or password.
The security token included in the request is expired
The access key that you sent does not exist here
ExpiredToken: The provided token has expired.
The signature of the request does not match ours
The request had invalid authentication credentials: send an OAuth 2 token
Request is missing required authentication credential.
Invalid API Key provided: sk_test_***
not_authed
invalid_auth
token_revoked
API token is invalid.
Client must be authenticated to access this resource.
INVALID_SESSION_ID: Session expired or invalid
INVALID_LOGIN: invalid username, password or token
error: You must be logged in to the server (Unauthorized)
Access denied for user 'root'@'localhost' (using password: YES)
FATAL: password authentication failed for user "ada"
NOAUTH Authentication required.
missing authentication credentials for REST request
SASL authentication failed
Authentication failed: AuthenticationFailed
LDAP bind failed: invalid credentials
535 5.7.8 Username and Password not accepted
Support for password authentication was removed last summer
git@github.com: Permission denied (publickey).
fatal: Authentication failed for 'https://example.com/x.git/'
invalid x-api-key
Your session has timed out. Please sign in again.
Please log in first
Login expired, authenticate again
OAuth token was revoked by the user
refresh token expired
Unable to verify token signature
Could not verify JWT: exp claim in the past
jwt malformed
Signature has expired
No API key was provided
API key rejected
The API key has been disabled
You need to sign in before you can do that
User is not authenticated
Anonymous access is disabled
Two-factor code is wrong
wrong passphrase
AADSTS700016: authentication failed, the directory has no application 'x'
unauthenticated: missing bearer token
invalid_grant: Bad Request
Credentials rejected by the mail server
Invalid webhook signature
authentication token missing
API access token is no longer valid
HTTP 401: no valid session
== FORBIDDEN
Cannot create role: server is running in read-only mode
Cannot delete group in read-only mode
URL scheme 'file' not allowed
The URL leads to a blocked address: private addresses are not allowed
Path /etc escapes base /srv
Access denied when listing languages
Write operations are not allowed when write mode is off
Client was not registered with scope admin
you are not authorized to view this certificate
User: arn:aws:iam::1:user/ada is not authorized to perform: s3:GetObject on resource: x
Access Denied
The caller does not have permission
Resource not accessible by integration
Must have admin rights to Repository.
You are not permitted to perform this action
not_allowed_token_type
missing_scope
API token does not have the required scope: write:pages
INSUFFICIENT_ACCESS: insufficient access rights on the record
pods is forbidden: user "ada" cannot list pods in the whole cluster
TopicAuthorizationException: Not authorized to access topics: [orders]
SELECT command denied to user 'ada'@'%' for table 'x'
permission denied for table users
not authorized on admin to execute command
this user has no permissions to run the 'flushall' command
security_exception: action [indices:data/read] is unauthorized for user [ada]
Insufficient access rights to perform the operation
550 5.7.1 Relaying denied
! [remote rejected] main -> main (protected branch hook declined)
You are not allowed to push code to this project.
Your account does not have access to this model
This feature is not available on your plan
Upgrade to Pro to export reports
You do not own this document
Only the owner may change the title
Only admins can invite members
Email not verified.
Not a member of this group
Cannot delete another user's time entry
Access restricted to staff
Administrator privileges are required
You can't edit a comment that somebody else wrote
the policy forbids public buckets
Action blocked by organization policy
Path is outside the allowed directories
Requires role 'editor'
user lacks permission 'ledger.write'
This operation is disabled for guests
Your IP address is not on the allow list
country blocked by sanctions rules
CSRF verification failed. Request aborted.
Account suspended
Sharing outside the company is prohibited
Refusing to delete a protected branch
Operation not permitted
Payment required to continue
The workspace is read-only for you
== CONFLICT
Terminology 'legal' already exists
Item is locked!
username already taken
Job not finished
Cancel running downloads before deleting them
The install is already running. Wait for it to finish.
A conflicting operation is in progress on this resource
The conditional request failed
The bucket you tried to delete is not empty
ConcurrentModificationException: Group state has changed
Resource version mismatch: the object has been modified, apply the changes again
Operation cannot be fulfilled on deployments.apps "web": the object has been modified
name_taken
A resource with the ID already exists
Reference already exists
Update is not a fast forward
failed to push some refs: updates were rejected, the remote is ahead
Merge conflict in src/app.py
Pull request is not mergeable
version_conflict_engine_exception: version conflict, current version [3]
E11000 duplicate key error collection: app.users
Duplicate entry 'ada' for key 'users.email'
UNIQUE constraint failed: users.email
BUSYGROUP Consumer Group name already exists
A key of idempotent requests may not come back with other parameters
PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'q'
RESOURCE_LOCKED - cannot obtain exclusive access to locked queue
The etag does not match the current version
The record was changed by another user since you loaded it
Somebody else is editing this page
The document is checked out by ada
That seat has just been booked
Slot no longer free
Order 9 has already been shipped
Cannot cancel an order that has been delivered
This invitation has already been accepted
A deployment is in progress
another instance is running
The migration is already applied
You have already voted
You already have a subscription
Email already registered
Lock held by worker-3
Address already in use
port is already allocated
container name "/web" is already in use
Directory not empty
The folder is not empty
Stale revision 4 (current is 6)
Your copy is out of date; reload and try again
Cannot delete account with open invoices
project is archived and cannot be changed
== RATE_LIMITED
Global rate limit exceeded
Rate limited by upstream API, please retry later
An error occurred (ThrottlingException) when calling ListUsers: rate exceeded
Please reduce your request rate.
Throughput exceeds the current capacity of your table
Quota exceeded for the metric 'Read requests' per minute
User Rate Limit Exceeded
API rate limit exceeded for user ID 7
You have exceeded a secondary rate limit: wait a few minutes
ratelimited
REQUEST_LIMIT_EXCEEDED: TotalRequests Limit exceeded.
Retry later: too many queries
Rate limit reached for gpt-4 on tokens per min (TPM)
You exceeded your current quota: see your plan
The tokens of your requests exceeded the rate limit of a minute
429
Error 1015: You are being rate limited
Too many submissions, please try again later
Too many sign-in attempts. Wait 15 minutes and try again.
Tool call quota exceeded for session
Daily quota used up
Monthly allowance of 1000 calls exhausted
You have used all your credits
You are sending messages too quickly
Slow down!
Requests are coming too fast
Only 10 searches per minute are allowed
Maximum number of requests per hour reached
Usage cap reached for today
es_rejected_execution_exception: rejected execution, queue capacity 200
Too many concurrent requests
concurrency limit reached
rate-limit hit, back off for 3 s
quotaExceeded
Subscription limit reached
Request was throttled
== TIMEOUT
cdk init timed out
Request 7 timed out
Timed out after 30s waiting for tools/list
Timeout fetching https://api.example.com/v1
Read timeout on endpoint URL: "https://s3.amazonaws.com/"
Task timed out after 3.00 seconds
DEADLINE_EXCEEDED: deadline exceeded after 4.9s
We couldn't respond to your request in time.
Execution timeout expired: the timeout period elapsed before the end
canceling statement due to statement timeout
Query execution was interrupted, maximum statement execution time exceeded
operation exceeded time limit
Operation timed out after 5001 milliseconds with 0 bytes received
Resolving timed out after 5000 milliseconds
No response from the printer within 10 seconds
The server did not respond in time
Gave up waiting for the build after 10 minutes
The model took too long to answer
Page load exceeded 30 s
waited 60 seconds for the lock, giving up
Live data query took too long. Narrow the range and retry.
context deadline exceeded (Client.Timeout exceeded while awaiting headers)
Deadline passed before the job finished
Time limit reached while rendering
The operation didn't finish within 20 s
java.net.SocketTimeoutException: Read timed out
ReadTimeoutError: HTTPSConnectionPool(host='x', port=443): Read timed out.
upstream request timeout
Execution expired
Expiring 3 records of orders-0: 30015 ms has passed since the batch was made
== SERVICE_UNAVAILABLE
Service Unavailable
We encountered an internal error. Please try again.
The service is currently unavailable.
Please reduce load: the server is overloaded
Overloaded
The engine is currently overloaded, please try again later
The server had an error while it worked on your request, sorry
Model x is currently loading
Could not connect to the endpoint URL: "http://localhost:4566/"
Could not reach the catalogue
Embedding backend is not available
The database is starting up
FATAL: the database system is shutting down
MySQL server has gone away
Lost connection to MySQL server during query
Can't connect to MySQL server on 'db' (111)
No servers available: db:27017: [Errno 111] Connection refused
No nodes are available to answer
NoBrokersAvailable
Broker transport failure
Leader not available
Failed to resolve 'kafka': Name does not resolve
CLUSTERDOWN The cluster is down
LOADING Redis is loading the dataset in memory
no living connections
all shards failed
NoHostAvailable: no host could complete the operation
Can't contact LDAP server
421 Service not available, closing transmission channel
Connection unexpectedly closed
ssh: connect to host example.com port 22: Connection refused
kex_exchange_identification: Connection closed by remote host
Could not resolve host: api.example.com
Failed to connect to api.example.com port 443: Connection refused
Recv failure: Connection reset by peer
Empty reply from server
SSL certificate problem: self-signed certificate in certificate chain
SSL routines::wrong version number
Cannot connect to the Docker daemon at unix:///var/run/docker.sock
no route to host
Network is unreachable
Connection closed
Server is shutting down
Ollama is not running. Start it with 'ollama serve'.
Payment provider is offline
Site is down for scheduled maintenance
upstream connect error or disconnect/reset before headers
The remote end hung up unexpectedly
bad gateway
Zoho returned 500
server returned an error: 502
GitHub API is having problems, try again in a minute
java.net.ConnectException: Connection refused
java.net.UnknownHostException: api.example.com
Backend unreachable
Peer disconnected
could not establish a connection to the broker
The printer isn't responding
Search is temporarily disabled
circuit breaker is open
Insufficient capacity for the requested instance type
Weather provider failed with status 503
proxy tunnel failed
Temporary failure, please retry
pool is closed; no connection available
Insufficient disk space on device
No space left on device
== DATABASE_ERROR
deadlock detected
Deadlock found when trying to get lock; try restarting transaction
could not serialize access due to read/write dependencies among transactions
relation "orders" does not exist
column u.naem does not exist
Table 'app.users' doesn't exist
Unknown column 'naem' in 'field list'
You have an error in your SQL syntax; check the manual
syntax error at or near "FORM"
current transaction is aborted, commands ignored until end of transaction block
database is locked
no such column: naem
file is not a database
ORA-00942: table or view does not exist
Invalid object name 'dbo.Users'.
WRONGTYPE Operation against a key holding the wrong kind of value
unconfigured table users
Transaction was rolled back
could not write to the data store
Failed to save record to the database
database query failed
WriteConflict error: this operation conflicted with another operation
cannot execute INSERT in a read-only transaction
index is corrupted
Migration 12 failed to apply
SQL logic error
== SERIALIZATION_ERROR
Invalid JSON in policy_document
Expecting value: line 1 column 1 (char 0)
Unexpected token < in JSON at position 0
Unexpected end of JSON input
Failed to parse response from the weather service
Could not decode the server's reply
Response is not JSON
The service returned invalid XML
CalDAV server sent malformed XML
invalid character '<' looking for beginning of value
json: cannot unmarshal string into Go value of type int
com.fasterxml.jackson.core.JsonParseException: Unrecognized token 'x'
Object of type datetime is not JSON serializable
'utf-8' codec can't decode byte 0xff in position 0
mapping values are not allowed here
could not find expected ':' while scanning a simple key
XML syntax error: mismatched tag
Error parsing CSV row 7
failed to deserialize message
cannot decode image data
Unable to unmarshal the payload
protobuf: message truncated
Not a gzipped file
File is not a zip file
PDF header not found: file is damaged
Unreadable response body
could not convert response to the expected schema
Truncated file: expected 100 bytes, read 17
corrupt archive
Failed to encode result
== CONFIGURATION_ERROR
MCP context missing 'idp_token_endpoint' in the environment
OPENAI_API_KEY environment variable not found
STRIPE_SECRET_KEY must be set
Set GITHUB_TOKEN to use this tool
GITHUB_TOKEN is required
Please set the SLACK_BOT_TOKEN environment variable
Unable to locate credentials: configure credentials first
You must specify a region.
The config profile (prod) could not be found
Could not determine credentials: set GOOGLE_APPLICATION_CREDENTIALS
No default project has been configured
store not configured
Pricing is not configured
No API key configured for provider 'openai'
Database URL is missing from the configuration
Cannot read config file settings.toml
Unknown setting 'colour' in pyproject.toml
Webhook secret is not defined
No mail server has been set up
Config value 'retries' must be an integer
bad configuration option: Foo
Missing required setting: BASE_URL
The plugin directory is not configured
No provider configured
environment is missing DATABASE_URL
kubeconfig: no configuration has been provided
live connector disabled (set LIVE=1 and configure keys)
S3 bucket name not configured
The .env file is missing
API_BASE undefined
Both CLIENT_ID and CLIENT_SECRET are required in the environment
misconfigured proxy: no host
== REQUEST_CANCELLED
This operation was aborted
The user aborted a request.
request canceled
context canceled
Task was destroyed because the client went away
Client closed the request before the answer
Query was killed
canceling statement due to user request
Cancelled on request of ada
The download was stopped by the user
user declined the request
The export was interrupted by the user
Operation aborted by the caller
Job 7 has been cancelled
Query execution was interrupted
== INVALID_REQUEST
Method not allowed
405 Method Not Allowed
Unsupported media type
Exceeded 30 redirects
Operation is not supported
Request method 'PUT' not supported
== INITIALIZATION_FAILED
Failed to initialize the vector index
Could not start the browser
Initialization failed: plugin loader
Failed to start worker process
Startup failed
Unable to initialise the speech engine
== INTERNAL_ERROR
Something went wrong
Failed to process request
An unexpected error occurred
Unexpected error listing language pairs
All retry attempts failed with no recorded exception
Operation failed
Error
Error creating resource from template
Failed to build image
Failed to add requirements
Failed to create report
Error while handling message
Translation operation failed
Batch creation failed
Query execution returned None
Unexpected None from renderer
this should never happen
TODO: not written yet
Widget factory exploded
could not complete the operation
Unable to process your order
Sync aborted? no: it ended well
the dns-like resolver gave 3 widgets
Assertion failed in planner
NullPointerException
java.lang.IllegalStateException: x
panic: runtime error: index out of range [3] with length 3
list index out of range
'NoneType' object has no attribute 'get'
missing 1 required positional argument: 'self'
maximum recursion depth exceeded
cannot read properties of undefined (reading 'id')
oops
Rendering stopped halfway
Unhandled promise rejection
Step 3 of 7 did not succeed
Segmentation fault
Bug: planner produced an empty plan
Exception in handler
tool execution failed
command exited with code 1
no result
job failed
Failed to send notification
"""

NAMED = """
OrderNotFoundError|7|NOT_FOUND
NoSuchWidget|7|NOT_FOUND
CustomerDoesNotExist|ada|NOT_FOUND
MissingRecordError|7|NOT_FOUND
UnknownCityError|Atlantis|NOT_FOUND
NoResultsError||NOT_FOUND
ItemGoneError|3|NOT_FOUND
RateLimitExceeded||RATE_LIMITED
TooManyRequestsError||RATE_LIMITED
QuotaExceededError||RATE_LIMITED
ThrottledError||RATE_LIMITED
UsageLimitReached||RATE_LIMITED
OutOfCreditsError||RATE_LIMITED
AuthenticationError|x|UNAUTHORIZED
LoginRequired||UNAUTHORIZED
InvalidCredentialsError||UNAUTHORIZED
TokenExpiredError||UNAUTHORIZED
BadPassword||UNAUTHORIZED
SessionExpired||UNAUTHORIZED
NotLoggedInError||UNAUTHORIZED
MissingApiKeyError||UNAUTHORIZED
PermissionDeniedError||FORBIDDEN
AccessDenied||FORBIDDEN
AuthorizationError||FORBIDDEN
InsufficientPermissions||FORBIDDEN
NotAllowedError||FORBIDDEN
ReadOnlyModeError||FORBIDDEN
PathEscapeError||FORBIDDEN
SSRFError|blocked|FORBIDDEN
OperationForbidden||FORBIDDEN
SandboxViolation||FORBIDDEN
ValidationError|x|VALIDATION_ERROR
InvalidEmailError||VALIDATION_ERROR
InputTooLongError||VALIDATION_ERROR
MissingParameterError||VALIDATION_ERROR
BadArgumentError||VALIDATION_ERROR
UnsupportedFormatError||VALIDATION_ERROR
MalformedInputError||VALIDATION_ERROR
BadName||VALIDATION_ERROR
ValueOutOfRange||VALIDATION_ERROR
PayloadTooLargeError||VALIDATION_ERROR
UserInputError|?|VALIDATION_ERROR
EmptyQueryError||VALIDATION_ERROR
InvalidDateRange||VALIDATION_ERROR
UnsafeSQLError|x|VALIDATION_ERROR
ResourceAlreadyExists||CONFLICT
DuplicateOrderError||CONFLICT
VersionConflictError||CONFLICT
StaleObjectError||CONFLICT
ConcurrentUpdateError||CONFLICT
AlreadyRegistered||CONFLICT
ResourceLockedError||CONFLICT
OptimisticLockError||CONFLICT
ResourceInUseError||CONFLICT
OutOfStockError||CONFLICT
RequestTimeout||TIMEOUT
DeadlineExceededError||TIMEOUT
TimedOutError||TIMEOUT
ServiceUnavailableError||SERVICE_UNAVAILABLE
ConnectionFailedError||SERVICE_UNAVAILABLE
NetworkError|x|SERVICE_UNAVAILABLE
UpstreamError|x|SERVICE_UNAVAILABLE
ServerOverloadedError||SERVICE_UNAVAILABLE
BackendDownError||SERVICE_UNAVAILABLE
CircuitBreakerOpen||SERVICE_UNAVAILABLE
MaintenanceModeError||SERVICE_UNAVAILABLE
HostUnreachableError||SERVICE_UNAVAILABLE
DatabaseError|x|DATABASE_ERROR
QueryFailedError|x|DATABASE_ERROR
StorageError|x|DATABASE_ERROR
DeadlockError||DATABASE_ERROR
TransactionFailed||DATABASE_ERROR
ParseError|line 3|SERIALIZATION_ERROR
JSONDecodingError||SERIALIZATION_ERROR
SerializationFailure||SERIALIZATION_ERROR
CorruptFileError||SERIALIZATION_ERROR
MalformedResponseError||SERIALIZATION_ERROR
ConfigError|x|CONFIGURATION_ERROR
MissingEnvironmentVariable|X|CONFIGURATION_ERROR
ImproperlyConfigured||CONFIGURATION_ERROR
SettingsError||CONFIGURATION_ERROR
NotConfiguredError||CONFIGURATION_ERROR
OperationCancelled||REQUEST_CANCELLED
UserAbortedError||REQUEST_CANCELLED
InitializationError||INITIALIZATION_FAILED
StartupError||INITIALIZATION_FAILED
InternalError|x|INTERNAL_ERROR
ToolError|x|INTERNAL_ERROR
AppError|boom|INTERNAL_ERROR
WidgetError|boom|INTERNAL_ERROR
TranslateException|boom|INTERNAL_ERROR
NotImplementedYetError||INTERNAL_ERROR
ProgrammingMistake||INTERNAL_ERROR
UnexpectedStateError||INTERNAL_ERROR
BugError|user not found|INTERNAL_ERROR
AppError|User not found|NOT_FOUND
ServiceError|Quota exceeded for today|RATE_LIMITED
ClientError|Query is required|VALIDATION_ERROR
NetworkError|Request timed out|TIMEOUT
ApiError|Network error: timed out|TIMEOUT
StorageError|File not found: a.txt|NOT_FOUND
DatabaseError|Connection refused|SERVICE_UNAVAILABLE
ConfigError|OPENAI_API_KEY is not set|CONFIGURATION_ERROR
"""
"""The name of a class of an application's own, its message, and the code."""

LISTED: list[tuple[C, str, str | None]] = [
    *((label, sentence, None) for label, sentence in listed(SENTENCES)),
    *((C[label], message, name) for name, message, label in (row.split("|") for row in NAMED.split("\n") if row)),
]


def second_half(message: str, name: str | None = None) -> bool:
    """Whether a case belongs to the half that was not looked at."""
    return bool(zlib.crc32((message if name is None else f"{name}: {message}").encode()) & 1)


for label, message, name in LISTED:
    says(CASES, label, message, named=name)
