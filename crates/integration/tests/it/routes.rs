//! Every operation of the API: a module per path, a file per method.

mod accounts {
    mod check {
        mod post;
    }
    mod connect {
        mod get;
        mod post;
    }
    mod delete;
    mod get;
    mod patch;
    mod post;
    mod users {
        mod get;
    }
}
mod apps {
    mod get;
}
mod audit {
    mod get;
}
mod auto_subscriptions {
    mod delete;
    mod post;
}
mod components {
    mod delete;
    mod get;
    mod options {
        mod post;
    }
    mod post;
    mod props {
        mod post;
    }
    mod run {
        mod post;
    }
    mod registry {
        mod get;
        mod post;
    }
    mod r#try {
        mod post;
    }
}
mod data_stores {
    mod delete;
    mod get;
    mod record {
        mod delete;
        mod get;
        mod put;
    }
    mod records {
        mod get;
    }
    mod users {
        mod get;
    }
}
mod deliveries {
    mod counts {
        mod get;
    }
    mod discard {
        mod post;
    }
    mod get;
    mod retry {
        mod post;
    }
}
mod docs {
    mod get;
}
mod endpoints {
    mod apart;
    mod custom_response;
    mod plain;
}
mod every_request;
mod event_views {
    mod delete;
    mod get;
    mod put;
}
mod events {
    mod get;
    mod replay {
        mod post;
    }
    mod send {
        mod post;
    }
}
mod healthz {
    mod get;
}
mod openapi_json {
    mod get;
}
mod metrics {
    mod get;
}
mod keys {
    mod delete;
    mod get;
    mod post;
}
mod nodes {
    mod get;
    mod patch;
}
mod orgs {
    mod sources {
        mod get;
    }
}
mod packages {
    mod components {
        mod get;
    }
    mod modules {
        mod get;
    }
}
mod readyz {
    mod get;
}
mod registry {
    mod folders {
        mod post;
    }
}
mod runs {
    mod cancel {
        mod post;
    }
    mod counts {
        mod get;
    }
    mod get;
    mod hours {
        mod get;
    }
    mod replay {
        mod post;
    }
    mod resume {
        mod post;
    }
}
mod secret_key {
    mod rotate {
        mod post;
    }
}
mod sessions {
    mod delete;
    mod get;
}
mod sign_in_links {
    mod post;
}
mod settings {
    mod get;
}
mod sources {
    mod delete;
    mod deployments {
        mod get;
    }
    mod event_summaries {
        mod get;
    }
    mod events {
        mod delete;
        mod deliveries {
            mod get;
        }
        mod get;
        mod runs {
            mod get;
        }
    }
    mod get;
    mod logs {
        mod get;
        mod open {
            mod get;
        }
    }
    mod patch;
    mod post;
    mod put;
    mod roll_back {
        mod post;
    }
    mod run {
        mod post;
    }
    mod runs {
        mod get;
    }
    mod sse {
        mod get;
    }
}
mod subscriptions {
    mod delete;
    mod post;
}
mod unauthorized;
mod usage {
    mod get;
}
mod users {
    mod delete;
    mod get;
    mod me {
        mod get;
        mod sources {
            mod get;
        }
        mod subscriptions {
            mod get;
        }
        mod webhooks {
            mod get;
        }
    }
    mod post;
}
mod variables {
    mod delete;
    mod get;
    mod put;
}
mod webhooks {
    mod delete;
    mod deliveries {
        mod get;
    }
    mod get;
    mod patch;
    mod post;
    mod replay {
        mod post;
    }
    mod rotate_secret {
        mod post;
    }
    mod test {
        mod post;
    }
}
mod workflows {
    mod check {
        mod post;
    }
    mod delete;
    mod deployments {
        mod files {
            mod get;
        }
        mod get;
    }
    mod errors {
        mod event_summaries {
            mod get;
        }
    }
    mod event_summaries {
        mod get;
    }
    mod events {
        mod deliveries {
            mod get;
        }
        mod get;
        mod runs {
            mod get;
        }
    }
    mod get;
    mod patch;
    mod post;
    mod roll_back {
        mod post;
    }
    mod run {
        mod post;
    }
    mod runs {
        mod get;
    }
    mod sse {
        mod get;
    }
}
mod workspaces {
    mod get;
    mod members {
        mod delete;
        mod get;
        mod post;
    }
    mod post;
    mod subscriptions {
        mod get;
    }
}
