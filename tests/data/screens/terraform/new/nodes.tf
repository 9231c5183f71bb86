variable "path" {
  description = "Determines whether to create a managed node group or to use an existing one"
  type        = string
  default     = "/"
}
variable "role_max_session" {
  description = "Longest session of the role, in seconds"
  type        = number
  default     = 3600
}
variable "subnets" {
  description = "Where the nodes are"
  type        = list(string)
  default     = []
}
resource "aws_autoscaling_group" "workers" {
  name_prefix      = "${var.cluster}-${lookup(var.groups[count.index], "label", count.index)}"
  desired_capacity = 12
  max_size         = 40
  lifecycle {
    ignore_changes = [target_group_arns]
  }
}
