variable "path" {
  description = "Determines whether to create a managed node group"
  type        = string
  default     = "/"
}
variable "max_session" {
  description = "Longest session of the role, in seconds"
  type        = number
  default     = 3600
}
resource "aws_autoscaling_group" "workers" {
  name_prefix      = "${var.cluster}-${lookup(var.groups[count.index], "name", count.index)}"
  desired_capacity = 3
  max_size         = 5
  lifecycle {
    ignore_changes = [desired_capacity, target_group_arns]
  }
}
