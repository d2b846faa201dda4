//! scheduler.conf: every option of stowplan, typed once.
