package io.tenure.spring;

import io.tenure.Elector;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;

/** Makes methods with {@link LeaderOnly} run on the leader only. */
final class LeaderOnlyPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {
  private static final long serialVersionUID = 1;

  LeaderOnlyPostProcessor(ObjectProvider<Elector> elector) {
    setBeforeExistingAdvisors(true);
    setProxyTargetClass(true);
    setOrder(Ordered.LOWEST_PRECEDENCE - 1); // before the processor of @Scheduled methods
    advisor =
        new DefaultPointcutAdvisor(
            AnnotationMatchingPointcut.forMethodAnnotation(LeaderOnly.class),
            (MethodInterceptor) call -> callIfLeader(elector.getObject(), call));
  }

  private ConfigurableBeanFactory factory;

  @Override
  public void setBeanFactory(BeanFactory beanFactory) {
    super.setBeanFactory(beanFactory);
    factory = (ConfigurableBeanFactory) beanFactory;
  }

  private Object callIfLeader(Elector elector, MethodInvocation call) throws Throwable {
    Class<?> type = call.getMethod().getReturnType();
    if (type.isPrimitive() && type != void.class) {
      throw new IllegalStateException(
          call.getMethod() + " returns a primitive; with @LeaderOnly it must be void or an object");
    }
    Object[] result = {null};
    Throwable[] failure = {null};
    elector.runIfLeader(
        electionOf(call),
        seat -> {
          try {
            result[0] = call.proceed();
          } catch (Throwable thrown) {
            failure[0] = thrown;
          }
        });
    if (failure[0] != null) throw failure[0];
    return result[0];
  }

  private String electionOf(MethodInvocation call) {
    Class<?> target = AopUtils.getTargetClass(call.getThis());
    LeaderOnly annotation =
        AnnotatedElementUtils.findMergedAnnotation(
            AopUtils.getMostSpecificMethod(call.getMethod(), target), LeaderOnly.class);
    return factory.resolveEmbeddedValue(annotation.value());
  }
}
