"""What the tests do at the S3 server: `prepare BUCKET` makes a bucket and a key that may write, `objects BUCKET` prints
all objects of a bucket. Both print JSON."""

import gzip
import json
import os
import sys

import boto3


def client(service):
    return boto3.client(
        service,
        endpoint_url=os.environ["S3_URL"],
        region_name=os.environ["S3_REGION"],
        aws_access_key_id=os.environ["S3_ACCESS_KEY"],
        aws_secret_access_key=os.environ["S3_SECRET_KEY"],
    )


def prepare(bucket):
    users = client("iam")
    users.create_user(UserName="writer")
    key = users.create_access_key(UserName="writer")["AccessKey"]
    statement = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}
    policy = {"Version": "2012-10-17", "Statement": [statement]}
    users.put_user_policy(
        UserName="writer", PolicyName="all", PolicyDocument=json.dumps(policy)
    )
    region = {"LocationConstraint": os.environ["S3_REGION"]}
    client("s3").create_bucket(Bucket=bucket, CreateBucketConfiguration=region)
    return {"access_key": key["AccessKeyId"], "secret_key": key["SecretAccessKey"]}


def objects(bucket):
    store = client("s3")
    found = []
    for listed in store.list_objects_v2(Bucket=bucket).get("Contents", []):
        body = store.get_object(Bucket=bucket, Key=listed["Key"])["Body"].read()
        found.append({"key": listed["Key"], "text": gzip.decompress(body).decode()})
    return found


print(json.dumps({"prepare": prepare, "objects": objects}[sys.argv[1]](sys.argv[2])))
