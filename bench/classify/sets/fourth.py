"""A fourth held-back part: sentences of our own in the manner of services, consoles, tools and people, in helpings.

Each helping was labelled and asked once before anything was changed for it; the tables learned from it before the
next was written. `__main__.FIRST_ANSWERS` has what they said at first.
"""

from __future__ import annotations

from typing import Final

from bench.classify.case import Cases
from bench.classify.sets.sentences import listed, says

CASES = Cases(held_back=True)

HELPINGS: Final = {
    "ordinary": r"""
== NOT_FOUND
The user you requested does not exist
Product with SKU 12345 not found in inventory
Unable to locate file at path /tmp/report.pdf
No email found matching that subject
Record 42 was not found in collection `orders`
The Kubernetes namespace 'staging' doesn't exist
error: remote ref does not exist
No playlist named "Focus" exists
there is no file called notes.md here
Database entry missing for user 99
Unable to find a match for your address
The queue you specified does not exist
Requested job ID is unknown
commit 8f3a2 could not be found on this branch
The given article ID yields no article
Page not found
Nothing was found for "foo"
No hits
lead 12 has been merged into another lead and is gone
Function not found: arn:aws:lambda:us-east-1:1:function:x
Attachment not found on message 3
no such branch
Object does not exist at location: img/1.png
Unknown message
Key "theme" not found
parent folder was not found
certificate 'web' not found in keychain
== UNAUTHORIZED
401: token invalid
Unauthorized: Access is denied due to invalid credentials.
Auth token expired, please refresh
You must provide a valid API key
Please authenticate before using this endpoint
Invalid username/password combination
Credentials could not be verified
The provided token has been revoked by the user
User not authenticated
Expired session. Log in to continue.
Authentication required
Invalid authorization header format
Refresh token expired or revoked
OAuth: consent was revoked, sign in again
API token has no access: it was deleted
HMAC check failed for webhook payload
wrong PIN, 2 tries left
2FA code required
The SAML assertion is not valid any more
== FORBIDDEN
Access Denied
You are not authorized to view this report.
Insufficient permissions to complete the operation
User lacks required role: admin
Operation not allowed for guest users
Your API key does not have access to this model
Only administrators may create projects
Account suspended for violating terms of service
Write access to this repository is not granted
This action requires elevated privileges
The resource belongs to another tenant
API access is disabled for this account
The policy of your organization forbids external sharing
Request blocked by WAF
You have read-only access
Tenant isolation: cannot read project of another customer
IP not in allow list
this command is reserved for moderators
feature not enabled for your account
region restricted: not available in your country
Not entitled to real-time data
Payment required to use this endpoint
You need editor rights
Your billing account is closed
== RATE_LIMITED
Rate limit exceeded. Try again in 60 seconds.
Too many requests, please slow down
API quota exhausted for today
Request limit reached: 1000/day
429: back off
You have made too many calls recently
Maximum concurrent connections per user reached
Search rate limit hit (30 per minute)
We're receiving too many requests from your IP
Token bucket empty
Free tier limit exceeded
Reached monthly usage limit
throttled by upstream
Hourly quota used: 500 of 500
Try again tomorrow: you used all your searches
Limit of 5 parallel exports reached
you are posting too fast
minute rate limit reached, resets in 12s
request quota for user exceeded
== SERVICE_UNAVAILABLE
Service temporarily unavailable, please try again later
Connection refused by mail server
Failed to establish a new connection
The payment provider is currently down
Unable to connect to the remote server
Backend is overloaded
DNS lookup failed for host db.example.org
TLS handshake error: certificate expired
Network unreachable
Upstream service returned 503
The weather API is not responding
Redis connection lost
Kafka cluster unavailable
connection reset while reading response
server returned HTTP 500 Internal Server Error
Bad gateway: upstream closed
System under maintenance until 04:00 UTC
No nodes are available to process the request
connection dropped mid-transfer
cannot reach license server
Service is shutting down
Internal server error from CRM
Third-party API failure
Model endpoint is cold; starting it now
The remote host closed the connection
Hostname could not be resolved
the translation service gave a 502
RabbitMQ channel was closed by server
The data centre lost power
disk quota on the upload server is full
SMTP server refused the connection
host unreachable
== TIMEOUT
Request timed out after 30 seconds
The operation took too long to complete
Query exceeded time limit
Deadline exceeded while waiting for response
Connection attempt timed out
timeout waiting for lock
No response received within 10s
The server took too long to respond
Task exceeded maximum runtime of 300s
Model inference timed out
did not finish before the deadline
Script execution time exceeded
socket timeout
== CONFLICT
Resource already exists
Version conflict: document was updated by another process
Username already taken
Concurrent modification detected
The record was changed since you last fetched it
Cannot delete a category that has products
Booking overlaps with an existing reservation
Job is already running
File already exists at destination
ETag mismatch
The item is currently locked for editing
Optimistic locking failure
A record with this value already exists
Order is in state 'shipped' and cannot be modified
name already in use
Cannot merge: conflicts in 3 files
item is out of stock
You already voted
Transaction was already committed
two edits collided
== VALIDATION_ERROR
Invalid email format
Field 'name' is required
Age must be a positive number
Value out of range: expected 0-100
Missing required field: title
Date must be in ISO 8601 format
Input too long: maximum 500 characters
Unsupported file format
Quantity cannot be negative
Parameter 'limit' must be between 1 and 50
The query contains a syntax error
Invalid JSON path expression
Start date is later than end date
Enum value 'blue' not recognised
malformed URL
Payload too large
At least one recipient is needed
url has no scheme
Cannot combine --all with --id
field "x" may only contain letters
invalid cursor
bad value for sort
page size above the maximum
expected a list of strings
tags: duplicates are not allowed
Schema validation failed at /items/0
price must have two decimals
No input was given
comment is empty
31 February is not a date
== DATABASE_ERROR
connection pool exhausted
SQL error: no such table
Deadlock detected, transaction rolled back
could not write to database
Failed to execute query: syntax error near FROM
database is corrupted
Cannot open database file
transaction failed
schema migration failed
== SERIALIZATION_ERROR
Failed to parse JSON response
Invalid XML: unexpected end of document
Could not deserialize message
YAML parse error at line 3
Cannot serialize object of type set
unexpected end of JSON input
invalid UTF-8 sequence in reply
CSV could not be parsed: row 3 has 7 columns
corrupt gzip stream
== CONFIGURATION_ERROR
API key is not configured
Missing configuration value: SMTP_HOST
Environment variable OPENAI_API_KEY not set
Invalid configuration: timeout must be positive
no database configured
config.yaml not found
== INITIALIZATION_FAILED
Failed to initialize database connection pool
Server failed to start: plugin error
== REQUEST_CANCELLED
Operation was cancelled
Request aborted by the client
User cancelled the request
the task was canceled
stream cancelled
== INTERNAL_ERROR
Internal error
Unexpected failure
Unknown error occurred
null pointer exception
list index out of range
Something broke
An error occurred
operation failed
could not complete the operation
Error while processing item 500
404 widgets were painted
page 429 rendered wrongly
Chapter 500 begins
assertion error: x != y
the renderer gave up
state machine reached an impossible state
Oops
???
could not compute the mean
""",
    "short": r"""
== NOT_FOUND
The customer record could not be retrieved because it doesn't exist
GET /v1/items/99: item not found
user 'bob' is not known to the directory
error: no tool named "grep2"
There is nothing at this URL
Couldn't locate the zip code 99999
Requested file missing on server
the snapshot id given does not correspond to any snapshot
Query returned no rows
No device with serial 55 is registered
lookup of employee 12 came back empty
no search results
unknown station code "XYZ"
That recipe isn't in the cookbook
Shipment tracking number 1Z not found
page doesn't exist
reference to missing template "mail.html"
The account number does not exist
bookmark 7 was not found; it may have been deleted
could not find node with label DB-1
== UNAUTHORIZED
Please log in to continue
Invalid credentials supplied
Your API key is invalid or has expired
Authentication token not provided
The session cookie is missing
token not recognised
bad API key
Unauthorised request
access token could not be validated
LDAP authentication failure for uid=ada
Your credentials have expired
failed to verify JWT
Sign-in needed
no credentials found in request
wrong passphrase for key
The username or password is not correct
Key has been revoked
auth: user must re-authenticate
Cookie expired, log in anew
== FORBIDDEN
You are not permitted to access this resource
Permission denied while opening /var/log/x
Insufficient privileges for DELETE
This endpoint is for internal use only
User ada may not read project apollo
Your account does not have permission to use this tool
path traversal attempt blocked
the key lacks scope read:users
role 'viewer' is not allowed to update
The file is outside the allowed directory
Only managers can approve expenses
Admin rights are required
you cannot edit other people's comments
blocked by company policy
not allowed: read-only mode
forbidden zone
account is banned
no write permission on calendar
this dataset is confidential
== RATE_LIMITED
Rate limit hit, wait 20 s
quota exceeded
Too many attempts. Try again later
Request throttled
slow down, you exceeded 10 req/s
Daily limit exceeded
You have used up your monthly quota of API calls
API limit reached for this hour
limit: 100 requests/minute
exceeded maximum number of requests
burst limit exceeded
Hit the concurrency limit
You're going too fast
Requests per second limit exceeded
usage limit reached for free accounts
== SERVICE_UNAVAILABLE
Service unavailable
could not reach the inventory service
API is down
server overloaded, try later
Connection error: host unreachable
Failed to resolve hostname db.local
mail relay refused the connection
upstream error
network failure while contacting bank
backend temporarily offline
SSL certificate verification failed
Unable to contact license server
The remote server returned an error: (500) Internal Server Error.
remote peer hung up
message broker unavailable
Maintenance window in progress
cannot connect to database host
got HTTP 503 from search backend
the cluster has no active nodes
third party outage
gateway error
dependency 'billing' is unhealthy
Lost connection to the message queue
dial error: no route to host
== TIMEOUT
timed out
Operation timed out after 5000 milliseconds
Request exceeded the 30 second limit
The database did not respond in time
took too long
waiting for approval timed out
connection timeout
Deadline of 5 seconds was exceeded
no reply from the device within 3 s
time limit exceeded
Search aborted: exceeded time budget
Lease acquisition timed out
response timeout from upstream
== CONFLICT
A project with this name already exists
Conflict: the document has changed
Duplicate request
cannot cancel, already completed
Version mismatch
that seat is already reserved
The record is locked
Resource is being modified by another process
stale revision
already subscribed
branch name collides with existing branch
concurrent update of row 7
Cannot delete user with active orders
file in use by another program
The meeting room has been double-booked
== VALIDATION_ERROR
Invalid input
name is too short
Missing argument 'path'
limit must be less than 100
Not a valid URL
date is in the wrong format
'abc' is not a number
unknown parameter: foo
The email field is empty
value must be one of: a, b, c
unsupported unit 'furlong'
Required property 'id' not specified
request body is malformed
file exceeds maximum size
negative amount not allowed
end must come after start
cannot parse date
too many items in list
zip code must have five digits
at most 10 tags
Invalid country code
expected integer, received string
query may not be empty
The language 'xx' is not supported
bad coordinates
illegal characters in filename
start_time is required
latitude must be between -90 and 90
== DATABASE_ERROR
database error
SQL syntax error
deadlock
no such table
query failed: column unknown
table orders is locked
transaction aborted
== SERIALIZATION_ERROR
Could not decode JSON
malformed XML
response was not JSON
encoding error
failed to parse response body
Unparseable reply from server
cannot serialise result
== CONFIGURATION_ERROR
missing environment variable API_TOKEN
service URL not configured
configuration invalid
DB_HOST is unset
no credentials configured
Set SLACK_TOKEN in your .env file
== INITIALIZATION_FAILED
failed to start worker
could not initialise cache
== REQUEST_CANCELLED
cancelled
request was canceled by caller
aborted by user
client went away
== INTERNAL_ERROR
internal error
unexpected error
it broke
something bad happened
unhandled exception
index out of bounds
failed to do the thing
result was 404 meters
processed 500 of 503 items
see log for details
""",
    "servers of tools": r"""
== NOT_FOUND
No weather data available for Atlantis
Repository octo/none does not exist or is private
Channel #random2 was not found in the workspace
Could not find any transcripts for that video
Table 'x' is not part of dataset 'y'
Unknown tool: frobnicate
No notes match the given tag
Workflow run 88 could not be found in acme/app
There is no open tab with index 4
Element not found: #submit
Sheet "Q5" not present in workbook
No prompt registered under 'greet'
Contact has no phone numbers on file
Session abc does not exist or has expired
Kernel 7f not found; it may have been shut down
Unable to retrieve page: 404
vector store has no collection "docs"
Memory with key 'x' does not exist
Cannot find module './foo'
No such tool
stock ticker ABCDE is unknown to the exchange
PR #12 not found
the folder you named isn't there
Graph contains no entity called "Ada"
No logs were found for pod web-0
== UNAUTHORIZED
Gmail: credentials have expired, run auth again
Notion token is invalid
Jira returned 401, check your API token
Not authenticated with GitHub. Set up authentication first.
Spotify access token expired
You have been logged out
Missing or invalid Authorization header
Login to Garmin failed: bad username or password
OAuth flow incomplete: user must authorize the app
Telegram session unauthorized; sign in again
Invalid session
token has been invalidated
API secret mismatch
Your signature has expired
Provided client secret is incorrect
== FORBIDDEN
Access to path /etc is denied
Write operations are disabled in this server
DELETE is not permitted in safe mode
Command 'rm' is not in the list of allowed commands
This database connection is read-only
You lack permission to view this channel
GitHub token is missing the 'repo' scope
Sandbox prevents network access
Domain evil.example is blocklisted
The robots.txt of the site forbids fetching this page
robots.txt disallows this URL
Destructive commands are blocked
The user's privacy settings do not allow this
Bot lacks the Manage Messages permission
Not the owner of this calendar
Tool disabled by policy
requires Premium subscription
file is outside of the workspace
Host not in the allowlist
== RATE_LIMITED
GitHub API rate limit exceeded; resets at 12:00
Brave Search: monthly quota exhausted
Alpha Vantage call frequency limit hit
You've reached your limit of 50 messages
Max requests per minute exceeded, cooling down for 40 s
crawl rate too high
request was rate-limited by Notion
Exceeded free tier of 25 calls/day
token usage for this minute exceeded
Please wait before sending another request
query budget for today is spent
== SERVICE_UNAVAILABLE
Ollama is not running at localhost:11434
Could not connect to Blender. Is the add-on running?
Figma plugin is not connected
Browser disconnected
Chrome DevTools: connection to target lost
No response from Unity editor
Obsidian REST API is not reachable
Docker daemon not running
The MCP proxy lost its upstream
Home Assistant is unreachable
Failed to connect to MongoDB: connection refused
Prometheus query endpoint returned 502
API responded with status 500
Network error occurred while fetching page
Remote service error
Wikipedia is having trouble, retry later
the model provider returned an overload error
Godot is not responding
tunnel connection failed
Unable to open websocket to ws://x
Error connecting to database
dns resolution failure
== TIMEOUT
Navigation timed out
Timeout while waiting for element to appear
Command timed out after 120 seconds
Code execution exceeded 30 seconds
Kernel did not become ready in time
Page load took more than 60 s
The container didn't start within 30s
Blender did not answer within the time limit
Query canceled after running for 5 minutes
Request to Overpass timed out
== CONFLICT
Note "todo" already exists; use overwrite=true
A session is already active
Branch already exists
Issue is already closed
Server already running on port 8080
Entity with that name exists
Recording in progress
The file changed on disk since it was read
the page was edited by someone else
directory not empty
Cannot start: another crawl is running
Merge conflicts must be resolved first
workspace is locked
== VALIDATION_ERROR
Invalid URL: 'htp:/x'
Unknown unit 'foo'
symbol must be a non-empty string
latitude must be a number
Either id or name must be provided
Unsupported language: klingon
Invalid timezone 'Mars'
Expression is not valid: unexpected ')'
Column 'foo' is not numeric
The range A1:B is not valid
temperature should be between 0 and 2
prompt cannot be empty
Too many points requested (max 1000)
max_results must not exceed 50
start must be smaller than end
priority has to be one of low, medium, high
No search query provided
Unsupported image type image/tiff
Could not understand the date "someday"
JSON path must start with $
width and height must both be given
the regex does not compile
hex colour expected
file is too big: 40 MB (limit 25 MB)
Emoji name contains spaces
Cypher query has a syntax error
You passed both file and url; pick one
== DATABASE_ERROR
no such function: REGEXP
Error executing SQL: relation "x" does not exist
Cannot open database: file is encrypted or is not a database
failed to commit transaction
== SERIALIZATION_ERROR
Invalid JSON returned by model
Failed to decode base64 image
could not parse the feed
The document is not valid YAML
unexpected response format
PDF is damaged
== CONFIGURATION_ERROR
GITHUB_PERSONAL_ACCESS_TOKEN environment variable is required
Brave API key missing; set BRAVE_API_KEY
No vault path configured
kubeconfig not found
BASE_URL must be set to your instance
node is not installed or not in PATH
== INITIALIZATION_FAILED
Failed to launch browser
Could not load embedding model
Failed to initialize MCP client
== REQUEST_CANCELLED
User declined the elicitation
Operation cancelled
Sampling request was rejected by the user
download aborted
== INTERNAL_ERROR
Failed to process document
Error generating chart
Tool execution failed
Unexpected result type
could not summarise text
Analysis failed
Rendering of slide 404 failed
Error: undefined
agent loop exceeded 10 iterations
bad luck
""",
    "talk and terse logs": r"""
== NOT_FOUND
Invoice #2211 could not be located
The dashboard you are trying to open was deleted
Sorry, that playlist doesn't exist anymore
pod "api-7" not found in namespace "prod"
No rows for customer 17
We don't have a user with that phone number
WARN lookup miss key=abc
requested version 3.2 was never released
the printer queue 'HP2' is unknown
Nonexistent flag: dark-mode
The specified alias has no target
There isn't any label called "urgent"
secret not found: payments/key
0 matches for pattern
Item 5 of wishlist is gone
The parcel cannot be found in our system
== UNAUTHORIZED
Sorry, your session is over; please log in once more
auth failed for user=ada
token expired 3 minutes ago
This request must carry an API key
We could not log you in with those details
Signature on the webhook is not valid
Credentials rejected by the identity provider
Device not paired: unknown pairing key
Your password has expired and must be changed
bearer token malformed
Single sign-on failed
client id or secret invalid
you need to be logged in
== FORBIDDEN
ERROR user=bob op=delete denied
You can only see your own orders
That's above your access level
Guests may not upload files
Access from this country is blocked
The administrator has turned this off for your team
Editing is limited to the project's owners
Permission 'export' is missing for role analyst
This tool may not touch files outside /workspace
upgrade required: the free plan has no API access
Your licence does not cover this module
Not authorised to approve payments
the bot was kicked from the group
== RATE_LIMITED
WARN throttle client=7 retry_after=12
Whoa there, too many requests! Take a break.
You can send only 5 invitations a day
Query quota used up until tomorrow
more than 60 calls in a minute
account over its API allowance
Request rejected: rate is limited to 10 per second
upload bandwidth limit exceeded for today
Try later: too much traffic from your network
token quota for gpt-x exhausted
== SERVICE_UNAVAILABLE
ERROR upstream=billing status=unreachable
The maps provider is offline at the moment
Sorry, our servers can't take your request right now
Could not open connection to smtp.example.org
db01 refused connection
remote host went away mid-request
The exchange is closed for maintenance
Got a 502 from the CDN
Peer's certificate is not trusted
Satellite feed lost
cannot talk to the scheduler
broker connection dropped, giving up
name resolution failed for api.acme.test
queue server unreachable
the service has crashed and is restarting
No worker is available to run the job
Something's wrong on our side, please retry in a few minutes
== TIMEOUT
ERROR op=export elapsed=300s limit=300s timed_out=true
Gave up after 3 tries of 10 seconds each
The report wasn't ready within two minutes
lock wait exceeded its timeout
No heartbeat for 45 s
Sorry, this is taking too long
watchdog killed the task after 600 s
The bank's system did not answer in time
render timeout
== CONFLICT
Someone else is editing this document right now
The e-mail is already linked to another account
ERROR insert failed: duplicate id 7
You can't check in twice
Your copy is out of date, reload first
A backup is running; wait until it is done
Room is occupied at that hour
The ticket has been closed in the meantime
Cannot rename: target exists
Subscription already cancelled
etag changed between read and write
The device is busy with another job
== VALIDATION_ERROR
ERROR field=age reason=must_be_positive
Please give the date as YYYY-MM-DD
"ten" is no number
The title has more than 100 characters
Sort order must be 'asc' or 'desc', not 'up'
body.items[3].price: not a number
You forgot the subject
The two passwords differ
Cannot search without a query
weight may not be negative
The postal code is not valid for Norway
Start of range lies after its end
Only PDF and DOCX files are accepted
-5 is not allowed as a quantity
unknown colour "blurple"
Attachments may have 10 MB at most
The option --depth needs a value
Choose between 1 and 5 stars
Phone number contains letters
IDs must be unique
query too complex
Missing quotes around the phrase
The language code has to have two letters
== DATABASE_ERROR
ERROR db=orders deadlock
insert into audit failed: disk full
table "t" has no column named "z"
the database file is corrupt
could not begin transaction
== SERIALIZATION_ERROR
ERROR parse json offset=0
The reply wasn't valid JSON: '<html>'
unreadable response from the scale
Bytes are not valid UTF-8
XML document ended unexpectedly
couldn't decode the barcode payload
== CONFIGURATION_ERROR
Mail server address is not set
the SENTRY_DSN variable is empty
No model is configured for this agent
Bad config: port must be an integer
run `setup` first: credentials file missing
== INITIALIZATION_FAILED
scheduler could not be started
init of plugin maps failed
== REQUEST_CANCELLED
INFO job 5 cancelled by operator
You stopped the upload
Interrupted by the user
caller gave up and disconnected
== INTERNAL_ERROR
ERROR code=7
Sorry, that didn't work
An error occurred while rendering
row 404 looked odd
layout engine: negative width computed
unexpected: 3
planner returned no steps
Could not finish
WARN retry 3/3 failed
FATAL: exiting
""",
    "of the program itself": r"""
== INTERNAL_ERROR
Failed to render template
could not draw figure 3
The planner produced an empty plan
Loop detected in dependency graph
the solver diverged after 200 iterations
shape mismatch in layer 3
matrix is singular
Failed to allocate 4096 bytes
CUDA out of memory
Cannot find a feasible schedule
unexpected None from helper
bad state: 7
callback raised
internal consistency check failed
hash collision in table
cache poisoned
reducer returned a string
tool crashed
subprocess exited with status 3
Failed to complete step
Error in worker thread
could not finish the job
I give up
something is off
Unable to process
failure in stage two
500 lines were printed
429 bottles of beer
step 401 done, step 402 failed
build 503 broke
line 404: boom
chunk 409 of 500 broke the writer
got 404 apples
issue 403 came back
exit code 404
code 500 painted
unpermissioned forbiddance
timeouter
invalidity
notfoundation
connectionless protocols are fun
expiredness unknown
the lockedness invariant
NotImplemented
todo
handler returned nothing
the tokenizer drifted
plan A failed and plan B too
tool returned no output
Agent stopped due to iteration limit
the chain broke
widget exploded
unrecoverable error
Fatal error
aggregated error of 3 tasks
Processing failed
an exception was thrown
error code: 7
Error code 12
out of memory
numerical instability
nan encountered in loss
gradient exploded
Invariant failed: tree is balanced
view was rendered twice
hook called twice
undefined behaviour
illegal instruction
bus error
not all code paths return
the moon is made of cheese
fell through
this branch is never taken
Lorem ipsum
hello world
retry loop ended
cleanup failed
teardown error
no result
returned None
result is None
Failed.
E42
model produced garbage
the answer was forty-one
Could not compute
conversion went sideways
failed after 3 steps
halted at breakpoint
Unable to generate a summary
the image generator produced a blank picture
crash in native code
plugin raised an exception
hook failed: see log
""",
    "of many systems": r"""
== NOT_FOUND
The requested object was not found on this server
Blob "a.png" does not exist in container "img"
No matching record for key 'u-12'
user account not found: ada
The index you are querying is missing
topic 'alerts' does not exist on broker
route /v9/foo doesn't exist
mailbox unavailable: no such user here
ConfigMap "web" not found
no DNS record of type MX for example.org
the thread has been deleted by its author
Could not open file: No such file or directory
certificate with serial 12 not found
== UNAUTHORIZED
access token invalid or expired
Please provide valid credentials
The API key you provided is not recognized
AUTH_REQUIRED: sign in to continue
User session expired. Re-login required.
ssh: no supported authentication methods available
LDAP simple bind refused: invalid credentials
The OAuth access token is missing
Failed login attempt for admin
API authentication error
id token issued for wrong audience
your one-time code has expired
== FORBIDDEN
Access to bucket 'x' is forbidden
You need admin privileges to do this
The operation is not permitted for your role
user is not authorized to call this function
service account lacks permission storage.objects.get
This API is not enabled for your project
Tenant policy prohibits external recipients
cannot exec into pods: forbidden
403 - insufficient permissions
IP range not whitelisted
The requester is not a collaborator
mail relay access denied
== RATE_LIMITED
API call quota exceeded, try again in 1 hour
Request was rate limited
You have hit the rate limit of 100 requests per minute
Too many SMS sent to this number
tokens per minute limit exceeded
Exceeded concurrent query limit
throttled: slow down your requests
quota of 10000 units per day used
Sending limit reached for this hour
Max API calls for plan reached
== SERVICE_UNAVAILABLE
Payment gateway unavailable
Connection refused (os error 111)
The DNS server returned SERVFAIL
TLS handshake with upstream failed
queue broker is not reachable
Kubernetes API server is down
503 from inventory
LLM provider is overloaded, try again shortly
Failed to connect to LDAP server
mail server not responding
no available replicas for shard 3
certificate for host has expired
Unable to reach host 10.0.0.4
The server encountered an internal error and was unable to complete your request
Upstream connection closed prematurely
Redis is loading the dataset
system is undergoing maintenance
lost connection to broker
== TIMEOUT
Query took longer than 30 seconds
SMTP server timed out
Operation timeout: 5000 ms
Kafka: request timed out
the call exceeded its deadline
No answer within 5 s
lock acquisition timeout
LDAP search exceeded time limit
job exceeded max runtime
== CONFLICT
Email address already registered
The resource was modified concurrently
duplicate message id
Cannot delete bucket: not empty
deployment already in progress
revision mismatch, expected 4 got 5
seat taken by another customer
Payment already refunded
unique key violation on email
queue 'x' is locked exclusively
Pod already exists
== VALIDATION_ERROR
amount must be positive
Invalid DNS name
field "to" missing
email address is malformed
label value exceeds 63 characters
temperature out of range [0, 2]
Unsupported media: video/x
cannot parse duration "5 fortnights"
subject line is required
prompt exceeds the context window
currency code must be ISO 4217
invalid cron schedule
Number of replicas cannot be negative
unexpected argument 'foo'
checksum of IBAN is wrong
foreign key constraint fails
== DATABASE_ERROR
relation "t" does not exist
SQLSTATE 40P01: deadlock detected
could not obtain lock on row
database is read-only
== SERIALIZATION_ERROR
invalid JSON payload received from upstream
could not decode response as JSON
protobuf parse error
YAML is malformed
== CONFIGURATION_ERROR
no SMTP host configured
environment variable KUBECONFIG is not set
misconfigured OAuth client: redirect_uri missing
missing setting: payments.secret
== INITIALIZATION_FAILED
failed to initialise TLS context
could not start the HTTP listener
== REQUEST_CANCELLED
The operation was cancelled by the caller
request aborted
query cancelled on user request
== INTERNAL_ERROR
unexpected internal state
internal failure in planner
something failed
step 500 of 600 done
unknown failure
value 404 ignored
an error happened, please try again
NullPointerException at Foo.java:12
""",
    "ordinary again": r"""
== NOT_FOUND
Article with slug 'x' not found
Sorry, we could not find that coupon code
employee record missing in HR system
no booking under that reference
The report has been purged
Unknown city name
the given path does not exist
S3 key not found
No subscription found for this e-mail
playlist was removed by the owner
== UNAUTHORIZED
Incorrect PIN entered
Session token is not valid any longer
Your login credentials were not accepted
Missing API token in header
Unauthenticated request
Email not recognised or password wrong
refresh token has been revoked
signature does not match
== FORBIDDEN
You have no rights to this folder
Your role does not permit this
Deleting is reserved for the owner
This account cannot place orders
access denied by ACL
token has insufficient scope
this feature needs a Pro plan
The document is restricted
== RATE_LIMITED
limit of 10 uploads per hour exceeded
API usage limit hit, resets tomorrow
Slow down! You are making requests too fast.
Exceeded quota for today
too many password resets requested
Rate limiting in effect
== SERVICE_UNAVAILABLE
Our systems are currently down
Cannot establish connection to mainframe
the search backend is not available
HTTP 502 returned by proxy
unable to reach the authentication server
partner API returned 500
the printer is offline
socket closed by remote host
Elasticsearch is unavailable
host lookup failed
== TIMEOUT
Request has timed out
The sensor failed to respond in time
waited 60 seconds for approval, giving up
Gateway timeout
transfer timed out
scan exceeded the time limit
== CONFLICT
This nickname is already taken
Conflicting edits detected
Cannot delete a folder that is not empty
the job is already finished
order is locked by another process
duplicated invoice number
record was updated by somebody else
== VALIDATION_ERROR
Age must be at least 18
Please enter a valid e-mail address
start date is required
'maybe' is not a valid boolean
too many tags: at most 5
Unsupported currency
The name contains invalid characters
length must be between 3 and 20
unknown field 'colour'
missing value for parameter 'q'
postcode not valid
== DATABASE_ERROR
failed to insert row into table orders
SQL: ambiguous column name
== SERIALIZATION_ERROR
Response could not be parsed as JSON
invalid XML document
Unable to decode image data
== CONFIGURATION_ERROR
The server has no API key configured
SMTP_PASSWORD not set
invalid configuration file
== INITIALIZATION_FAILED
Failed to start the indexing service
== REQUEST_CANCELLED
User cancelled
upload was aborted by the user
== INTERNAL_ERROR
failed to build report
unexpected error in renderer
crash
nothing to see here
""",
    "ordinary a third time": r"""
== NOT_FOUND
Customer not found in CRM
The video you requested is no longer available
Can't find variable definition 'x' in catalogue
no record exists with that identifier
repository is empty or missing
The address could not be found
snapshot expired and was removed
file was moved or deleted
Zoom meeting does not exist
unknown user id 77
vehicle with plate AB-123 isn't registered
== UNAUTHORIZED
Invalid security token
You're not logged in
authentication token missing
Expired credentials
Wrong API secret
The client could not be authenticated
login attempt rejected
must authenticate first
JWT verification failed
== FORBIDDEN
Operation forbidden for this token
you do not own this resource
Sorry, you're not allowed to do that
not enough permissions
Access is restricted to employees
The file is read only
subscription required to view this article
Your organisation blocks this action
write access denied
== RATE_LIMITED
request quota reached
You've sent too many messages
retry after 30 seconds: rate limit
maximum requests exceeded
Too many concurrent requests
credits exhausted
API throttled the request
== SERVICE_UNAVAILABLE
Third-party service is unavailable
Connection to server lost
Failed to reach remote API
DNS resolution failed
server is under heavy load
The request failed with status 503
Unable to resolve host
SSL error: certificate verify failed
message queue is down
Network connection was interrupted
upstream unavailable
== TIMEOUT
Timeout exceeded
The request took too long to process
deadline has passed
Connection timed out while contacting server
no response in 10 seconds
execution timed out
== CONFLICT
Entry already present
version conflict on save
Another process is using this file
user already a member
The appointment conflicts with another one
cannot be deleted because it is in use
item locked
== VALIDATION_ERROR
Invalid argument: depth
title must not be empty
The value 300 is too large
Invalid format for field 'date'
required field missing: email
password must contain a digit
must be a valid UUID
unsupported option --x
input exceeds 1000 characters
not a number: abc
wrong number of arguments
bad date: 2026-99-99
end before start
== DATABASE_ERROR
database query failed
table missing from schema
lock timeout on table users
== SERIALIZATION_ERROR
cannot parse JSON
decoding failed
unexpected end of input while parsing
== CONFIGURATION_ERROR
Missing required configuration
API_URL environment variable missing
no endpoint configured
== INITIALIZATION_FAILED
startup failed
Initialization error
== REQUEST_CANCELLED
operation cancelled by user
The request was aborted
== INTERNAL_ERROR
unexpected exception
general failure
could not generate output
assertion failed
""",
}

for _label, _sentence in (pair for helping in HELPINGS.values() for pair in listed(helping)):
    # A plain error of either kind, by turns.
    says(CASES, _label, _sentence, kind=RuntimeError if len(_sentence) % 2 else Exception)
